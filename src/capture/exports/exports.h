/*
 * The ways by which calls reach us, and how often each was used: what `capture.doors` shows.
 */
#ifndef CAPTURE_EXPORTS_EXPORTS_H
#define CAPTURE_EXPORTS_EXPORTS_H

#include <stdint.h>

enum door {
	DOOR_LINKED,      /* call sites that the linker bound to us */
	DOOR_DLSYM,       /* pointers handed out by dlsym */
	DOOR_PROCADDRESS, /* pointers handed out by cuGetProcAddress */
	DOOR_TORCH,       /* PyTorch's reports */
	DOOR_RUNTIME, /* runtime calls under which no driver call was seen, so that they count */
	DOORS,
};

void doors_count(enum door door);
uint64_t doors_counted(enum door door);

#endif
