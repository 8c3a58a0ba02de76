/*
 * What a test may ask of the simulated driver while it runs: the figures that it keeps, and a
 * failure of the next call of a name. Exported by the simulated libcuda.so.1 alone.
 */
#ifndef FAKE_CONTROL_H
#define FAKE_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

struct fake_figures {
	uint64_t allocated; /* in somebody's hands, on the device */
	uint64_t reserved;  /* taken from the device */
	uint64_t managed, pinned;
	bool unfailed; /* a failure was asked for and no call has had it yet */
};

/* Bytes held now. */
void fakeCudaFigures(int device, struct fake_figures *figures);

/* The next call of the driver's function `name` (the ABI name) does nothing and gives `status`. */
void fakeCudaFail(const char *name, int status);

#endif
