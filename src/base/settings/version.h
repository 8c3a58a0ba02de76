/* The version of memtrace, which the tool and every trace show. */
#pragma once

#define MEMTRACE_VERSION "1.0.0"
