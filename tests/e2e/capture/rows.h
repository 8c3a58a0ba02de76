/*
 * What the scenarios of rows.c are written with.
 *
 * Each row of hooks.def has one, use_NAME(call). It makes ready what the call needs, says what the
 * trace must tell of it, makes the call through CALL(), and cleans up. It runs once for each door
 * and each outcome: the call succeeds, fails, or fails for want of memory.
 */
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define DEVICES 2
#define OTHER_DEVICE 1 /* whose contexts come and go */

#undef cuMemHostRegister
#undef cuIpcOpenMemHandle
#undef cuGraphAddNode
#undef cuCtxCreate
#undef cuCtxDestroy
#undef cuDevicePrimaryCtxRelease
#undef cuDevicePrimaryCtxReset
#undef cuStreamDestroy

/* fn_NAME: the type of each row's function. */
#define RESULT_RT cudaError_t
#define RESULT_DRV CUresult
#define HOOK(api, name, params, ...) typedef RESULT_##api fn_##name params;
#define BOTH(...) HOOK(__VA_ARGS__)
#include "../../../src/capture/loader/hooks.def"
#undef HOOK

/* Ends the program: it cannot test what it is to test. */
void must(int status, const char *what);

/* What the call is to leave in the trace, if it succeeds; when it fails, */
void takes(const char *space, size_t size);         /* nothing, or an oom if that is why */
void gives(const char *space, size_t size);         /* a free that is taken back */
void moves(const char *op, size_t size);            /* nothing: map and unmap */
void ends(const char *space, size_t size);          /* nothing: what a context takes along */
void imports(const char *space, size_t size);       /* nothing */
void closes(const char *space, size_t size);        /* as gives(), of memory that is not ours */
void stands(const char *space);                     /* nothing: a handle of no memory */
void fails_to_take(const char *space, size_t size); /* an oom if that is why; else nothing at all */
bool call_fails(void);

/* The driver's function that is to fail in the call's place, where it is not the row's own. */
void beneath(const char *driver_function);

void row_begin(void);
int row_end(int status);
#define CALL(...) (row_begin(), row_end((int)call(__VA_ARGS__)))

/* The sums are compared once more, where the scenario has gone on after the call. */
void check_now(void);

/* Another process's memory of 3 MiB, to be opened. */
extern CUipcMemHandle foreign_handle;
