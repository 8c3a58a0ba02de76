/* The version, which the tool, doctor and every trace show. */
#pragma once

#define MEMTRACE_VERSION "1.0.0"
