/*
 * NVML, for one figure: how much of a device this process occupies, as nvidia-smi shows it.
 *
 * Loaded with dlopen before the first context is made; where it is missing, or does not say which
 * of the processes it lists is this one, cuMemGetInfo's figure for the whole device takes its place
 * (capture/cuda/device_usage.c). Devices are found by UUID: NVML's order is not CUDA's,
 * CUDA_VISIBLE_DEVICES changes the latter, and of a MIG device only that is right.
 *
 * NVML lists processes by their ids on the host: in a container none of them need be ours. The one
 * that came with our first context is, if it was the only one to come.
 *
 * About 25 us a question (H200, driver 580). No lock of ours may be held.
 */
#ifndef CAPTURE_CUDA_NVML_H
#define CAPTURE_CUDA_NVML_H

#include <stdbool.h>
#include <stdint.h>

/* Ahead of a call that makes a context on the CUDA device: loads NVML, notes who is there. False:
 * it is another thread's turn. */
bool nvml_prepare(int device);

/* Behind it, or where nobody looked: 1 if it is known now which process we are, 0 if not, -EBUSY:
 * ask later. */
int nvml_recognise(int device);

/* Bytes that this process occupies, 0 when it is not listed; false when NVML cannot say. */
bool nvml_used(int device, uint64_t *bytes);

/* Bytes that nobody occupies: cuMemGetInfo's figure, without a context. */
bool nvml_left(int device, uint64_t *bytes);

/* In a forked child: it is another process. */
void nvml_clear(void);

#endif
