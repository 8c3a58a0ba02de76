/*
 * What the parts of the simulated driver share.
 *
 * One lock guards everything: a call takes it with call_begin, gives it back with call_end, and
 * whatever lies between may use every function below. The library is linked with -Bsymbolic, or a
 * preloaded tracer would see the driver's calls to itself.
 */
#pragma once

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control.h"

#define DEVICES_MAX 16
#define MIB ((uint64_t)1 << 20)
#define GRANULE (2 * MIB) /* what a device hands out at the least */

/* In the driver's own files a name is the ABI name: these exist in the library beside their v2. */
#undef cuMemAlloc
#undef cuMemFree
#undef cuMemAllocHost
#undef cuMemHostRegister
#undef cuDeviceGetUuid
#undef cuDevicePrimaryCtxRelease
#undef cuDevicePrimaryCtxReset
#undef cuCtxDestroy
#undef cuStreamDestroy
#undef cuGetProcAddress
#undef cuIpcOpenMemHandle
#undef cuGraphAddNode
#undef cuCtxCreate
#undef cuModuleGetGlobal

/* The library exports these, but cuda.h does not declare them. */
CUresult cuMemAlloc(unsigned int *ptr, unsigned int size);
CUresult cuMemFree(unsigned int ptr);
CUresult cuMemAllocHost(void **ptr, unsigned int size);
CUresult cuMemHostRegister(void *ptr, size_t size, unsigned int flags);
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device);
CUresult cuDevicePrimaryCtxRelease(CUdevice device);
CUresult cuDevicePrimaryCtxReset(CUdevice device);
CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device);
CUresult cuCtxDestroy(CUcontext context);
CUresult cuStreamDestroy(CUstream stream);
CUresult cuGetProcAddress(const char *symbol, void **pfn, int version, cuuint64_t flags);
CUresult cuMemAllocAsync_ptsz(CUdeviceptr *ptr, size_t size, CUstream stream);
CUresult cuMemFreeAsync_ptsz(CUdeviceptr ptr, CUstream stream);
CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *ptr, size_t size, CUmemoryPool pool,
				      CUstream stream);
CUresult cuMemMapArrayAsync_ptsz(CUarrayMapInfo *list, unsigned int count, CUstream stream);
CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream);
CUresult cuGraphUpload_ptsz(CUgraphExec exec, CUstream stream);
CUresult cuModuleGetGlobal_v2(CUdeviceptr *ptr, size_t *size, CUmodule module, const char *name);
CUresult cuLaunchKernel_ptsz(CUfunction function, unsigned int grid_x, unsigned int grid_y,
			     unsigned int grid_z, unsigned int block_x, unsigned int block_y,
			     unsigned int block_z, unsigned int shared, CUstream stream,
			     void **args, void **extra);
CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction function, void **args,
			       void **extra);
CUresult cuLaunchCooperativeKernel_ptsz(CUfunction function, unsigned int grid_x,
					unsigned int grid_y, unsigned int grid_z,
					unsigned int block_x, unsigned int block_y,
					unsigned int block_z, unsigned int shared, CUstream stream,
					void **args);
CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *exec, CUgraph graph,
					   CUDA_GRAPH_INSTANTIATE_PARAMS *params);
CUresult cuIpcOpenMemHandle(CUdeviceptr *ptr, CUipcMemHandle handle, unsigned int flags);
CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
			CUgraphNodeParams *params);
CUresult cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *affinities, int count,
			unsigned int flags, CUdevice device);

#pragma GCC visibility push(hidden)

/* --- driver_account.c: what is held, which the report prints ------------------------------- */

enum kind {
	KIND_PLAIN,
	KIND_ARRAY,
	KIND_VMM,
	KIND_POOL,  /* blocks; what their pools hold is account.pool_reserved */
	KIND_GRAPH, /* what graphs allocated, the same */
	KIND_MANAGED,
	KIND_PINNED,
	KIND_IMPORTED, /* another process's, or another library's: an address, and none of ours */
	KIND_COUNT
};

struct figure {
	uint64_t current;
	uint64_t peak;
};

struct tally {
	struct figure bytes;
	uint64_t allocations;
	uint64_t frees;
	uint64_t failures;
};

struct account {
	struct tally kinds[KIND_COUNT];
	struct figure pool_reserved;
	struct figure allocated; /* in somebody's hands: plain, arrays, VMM and pools' blocks */
	struct figure reserved;  /* taken from the device: the same with whole pools */
	struct figure used;      /* what cuMemGetInfo says: granules and contexts */
	uint64_t free_failures;
};

struct device;

void account_add(struct device *device, enum kind kind, uint64_t size);
void account_remove(struct device *device, enum kind kind, uint64_t size);
void account_failure(struct device *device, enum kind kind);
void account_free_failure(struct device *device);
void account_pool_reserve(struct device *device, uint64_t before, uint64_t after);
/* The figures of all devices together: peaks of sums, not sums of peaks. */
const struct account *account_all(void);

/* --- driver.c: the lock, the settings, the devices ----------------------------------------- */

struct context;
struct pool;
struct range;

struct device {
	int ordinal;
	uint64_t total;
	uint64_t used;
	struct range *plain; /* made at the first allocation */
	struct context *primary;
	struct pool *default_pool; /* made when somebody asks */
	struct pool *current_pool;
	struct account account;
};

struct settings {
	unsigned int devices;   /* FAKE_CUDA_DEVICES */
	uint64_t memory;        /* FAKE_CUDA_MEMORY: bytes a device has */
	uint64_t others;        /* FAKE_CUDA_OTHERS: what another process takes of each */
	bool eager;             /* CUDA_MODULE_LOADING=EAGER */
	bool mig;               /* FAKE_CUDA_MIG: devices are parts of cards */
	uint64_t context_bytes; /* FAKE_CUDA_CONTEXT_BYTES: what a context takes of it */
	uint64_t oom_after;     /* FAKE_CUDA_OOM_AFTER: the number of the allocation that fails */
	uint64_t signals;       /* FAKE_CUDA_SIGNALS: not 0: none arrives while a call is inside */
	uint64_t free_fails;    /* FAKE_CUDA_FREE_FAILS: the number of the free that fails */
	uint64_t latency_ns; /* FAKE_CUDA_LATENCY_NS: how long an allocation takes at the least */
	const char *report;  /* FAKE_CUDA_REPORT: where the truth is written at exit */
};

const struct settings *settings(void);

/* Takes the lock, always, and says whether the driver is up, or what the call is to fail with. */
CUresult call_begin_named(const char *name);
#define call_begin() call_begin_named(__func__)
/* The same, and *context is the calling thread's. */
CUresult call_begin_in_named(const char *name, struct context **context);
#define call_begin_in(context) call_begin_in_named(__func__, context)
CUresult call_end(CUresult status);

/* Takes as long as an allocation is set to take. Without the lock. */
void call_delay(void);
/* Counts an attempt; CUDA_ERROR_OUT_OF_MEMORY when it is the one that is to fail. */
CUresult call_admit_allocation(void);
CUresult call_admit_free(void);

/* Tells the simulated CUPTI, if one listens. */
void watch(struct fake_watch what);

/* NULL when there is no such device. */
struct device *device_at(int ordinal);
unsigned int device_count(void);
/* False when so much is not left. */
bool device_take(struct device *device, uint64_t bytes);
void device_give(struct device *device, uint64_t bytes);

/* --- driver_context.c ---------------------------------------------------------------------- */

struct block;

#define LIMITS 3 /* whose memory is modelled: stack, printf, malloc */

struct context {
	struct device *device;
	bool alive;
	uint64_t limits[LIMITS];
	uint64_t limit_bytes[LIMITS]; /* what they take beyond what is in the context */
	unsigned int peers;
	unsigned int retained; /* of a primary context */
	struct block *blocks;  /* what ends with it */
	struct external *externals;
	struct context *next;
};

/* The calling thread's, or the reason why there is none. */
CUresult context_current(struct context **context);

/* --- driver_module.c: code, and the heaps that code needs ------------------------------------- */

void limits_begin(struct context *context);
void limits_end(struct context *context);
void modules_end(struct context *context);

/* --- driver_range.c: addresses, and the memory behind them --------------------------------- */

/*
 * Addresses in units of 2 or 32 MiB. A unit takes memory of the device from its first block on,
 * until its last block is gone or, when `keep` is set, until range_trim after that.
 */
struct range {
	struct device *device; /* NULL: host memory, which costs no device anything */
	uint64_t base;
	uint64_t size;
	uint64_t unit;
	bool keep;
	uint64_t backed; /* bytes */
	struct unit *units;
	struct cuda_call *first;
	struct cuda_call *free; /* the one freed last comes first, so addresses come back soon */
	void *mapping;
	size_t mapping_size;
};

/* Addresses that fault (or memory, for a range of the host); NULL when there are none left. */
struct range *range_new(struct device *device, uint64_t size, uint64_t unit, bool keep);
void range_delete(struct range *range);
/* NULL when addresses or memory run out. The address is span_address's. */
struct cuda_call *range_take(struct range *range, uint64_t size, uint64_t alignment);
void range_give(struct range *range, struct cuda_call *span);
/* Gives back empty units while more than `keep` bytes are backed. */
void range_trim(struct range *range, uint64_t keep);
uint64_t span_address(const struct cuda_call *span);

/* Addresses only; 0 when there are none left. */
uint64_t address_reserve(uint64_t size, uint64_t alignment, bool writable);

/* --- driver_block.c: who lies at an address ------------------------------------------------ */

struct block {
	uint64_t base;
	uint64_t size;
	enum kind kind;
	struct device *device;
	struct context *context; /* NULL: outlives every context */
	struct block *previous;  /* in the context's list */
	struct block *next;
	struct cuda_call *span; /* its place in a range, or NULL */
	struct range *range;
	struct pool *pool;
	uint64_t mapped;            /* bytes of host memory to unmap */
	bool registered;            /* by cuMemHostRegister: the memory is not ours */
	struct allocation *mapping; /* of VMM memory */
	bool accessible;            /* by cuMemSetAccess */
	unsigned int opened;        /* how often cuIpcOpenMemHandle gave it */
	uint64_t origin[2]; /* of one that was opened: whose it is, by process and address */
};

struct blocks {
	void *root; /* of tsearch */
};

/* Ours is a copy; NULL when it would lie over another or there is no memory. */
struct block *block_add(struct blocks *blocks, const struct block *block);
void block_remove(struct blocks *blocks, struct block *block);
/* The block that holds the address, or NULL. */
struct block *block_around(const struct blocks *blocks, uint64_t address);
/* The block that begins there, or NULL. */
struct block *block_at(const struct blocks *blocks, uint64_t address);
/* All memory that has an address. */
struct blocks *memory_blocks(void);

/* --- driver_memory.c ----------------------------------------------------------------------- */

/* Memory of the kind with a place in the device's or the host's; *base is where. */
CUresult memory_take(struct context *context, enum kind kind, uint64_t size, uint64_t *base);
/* An address for memory that is not ours. */
CUresult memory_import(struct context *context, uint64_t size, struct block **block);
/* Ends the block, or says why it cannot; CUDA_ERROR_INVALID_VALUE for NULL. */
CUresult memory_free(struct block *block);

/* Ends the block: its bytes, its addresses, its place in the books. */
void memory_end(struct block *block);

/* --- driver_pool.c ------------------------------------------------------------------------- */

/* The device's work is done: what pools hold beyond their thresholds goes back. */
void pools_synchronize(void);
void pool_block_end(struct block *block, bool ordered);

/* --- driver_graph.c ------------------------------------------------------------------------ */

/* While a stream captures: an address for memory that comes when the graph runs; 0 for none. */
uint64_t graph_capture_alloc(struct device *device, uint64_t size);
/* False when the address is no graph's. */
bool graph_capture_free(uint64_t address);
/* What the stream captured becomes a graph. */
CUgraph graph_captured(void);
/* What a graph left allocated is freed by a call outside of it. False: it is no such memory. */
bool graph_free(uint64_t address);
/* What a graph allocated around an address. */
bool graph_range(uint64_t address, uint64_t *base, uint64_t *size);

/* --- driver_vmm.c -------------------------------------------------------------------------- */

struct allocation;

/* Memory without an address that costs no device anything; NULL: there is no memory. */
/* `origin`: of this process, kept alive by the import; or NULL. */
struct allocation *allocation_import(struct device *device, uint64_t size,
				     struct allocation *origin);
CUmemGenericAllocationHandle allocation_handle(const struct allocation *allocation);
/* NULL when nobody holds such a handle. */
struct allocation *allocation_of(CUmemGenericAllocationHandle handle);
uint64_t allocation_size(const struct allocation *allocation);
struct device *allocation_device(const struct allocation *allocation);

/* --- driver_pool.c ------------------------------------------------------------------------- */

/* NULL when there is no such pool, or it was destroyed. */
struct pool *pool_of(CUmemoryPool handle);
CUmemoryPool pool_handle(struct pool *pool);
struct device *pool_device(const struct pool *pool);
/* Another process's: addresses of its blocks are imported, and it cannot be allocated from. */
struct pool *pool_import(struct device *device);
struct block *pool_import_block(struct pool *pool, uint64_t size);

/* --- driver_array.c ------------------------------------------------------------------------ */

/* As programs have it. */
uint64_t array_handle(const struct block *block);
/* The mipmapped array that imported memory is seen as. */
CUmipmappedArray array_of_import(uint64_t base);

/* --- driver_share.c ------------------------------------------------------------------------ */

void externals_end(struct context *context);

/* --- driver_stream.c ----------------------------------------------------------------------- */

/* CUDA_ERROR_INVALID_HANDLE when there is no such stream. */
CUresult stream_capturing(CUstream stream, bool *capturing);
CUresult stream_known(CUstream stream);

/* --- driver_report.c ----------------------------------------------------------------------- */

/* Appends one line to the file. */
void report_write(const char *path);

#pragma GCC visibility pop
