/* The version, said by the tool, by doctor and in every trace. */
#ifndef BASE_SETTINGS_VERSION_H
#define BASE_SETTINGS_VERSION_H

#define MEMTRACE_VERSION "1.0.0"

#endif
