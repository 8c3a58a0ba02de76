/*
 * NVTX ranges and marks. What they tell goes to record_mark(); all else is between NVTX and nvtx.c.
 */
#ifndef CAPTURE_NVTX_NVTX_H
#define CAPTURE_NVTX_NVTX_H

/* In a forked child: whoever was registering a text is not in it. */
void nvtx_forked(void);

#endif
