/* The version, said by the tool, by doctor and in every trace. */
#pragma once

#define MEMTRACE_VERSION "1.0.0"
