#!/usr/bin/env python3
"""One program for each pool of another library; pools.py NAME runs it, without NAME it lists them.

After every step the program marks the trace with what the pool says of itself:

    pool NAME USED TOTAL [SLACK]    bytes handed out and taken from CUDA ("-": it does not say)
    block NAME ADDRESS SIZE         a block that must be live there ("-" for memory of no pool)

pools_check.py holds the trace to these. The last blocks are still there when Python ends.
"""
import ctypes
import gc
import os
import sys
import threading

import memtrace_pools

MIB = 1 << 20
PROGRAMS = {}
KEPT = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def mark(*words):
    getattr(ctypes.CDLL(None), "memtrace_mark", lambda text: None)(" ".join(map(str, words)).encode())


def in_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


# --- CuPy ------------------------------------------------------------------------------------------------


def cupy_steps(cupy, pool, name):
    def now():
        gc.collect()
        mark("pool", name, pool.used_bytes(), pool.total_bytes())

    def keep(key, size):
        KEPT[key] = cupy.empty(size, dtype=cupy.uint8)

    for size in (5 * MIB + 1, 3 * MIB, 100, 0, 700):
        keep(f"{name} {size}", size)
        now()
    del KEPT[f"{name} {5 * MIB + 1}"]
    now()
    keep("from the cache", 2 * MIB)
    now()
    # Born in one thread, ended in another, which has never asked for memory.
    in_thread(lambda: keep("thread", 9 * MIB))
    now()
    in_thread(lambda: KEPT.pop("thread"))
    now()
    pool.free_all_blocks()
    now()
    for _ in range(200):
        cupy.empty(4 * MIB, dtype=cupy.uint8)
        cupy.empty(64, dtype=cupy.uint8)
    now()
    mark("block", name, hex(KEPT[f"{name} {3 * MIB}"].data.ptr), 3 * MIB)


@program
def cupy_pool():
    import cupy

    before = cupy.empty(MIB, dtype=cupy.uint8)  # its segment is not told: it goes back first
    del before
    memtrace_pools.trace_cupy()
    cupy_steps(cupy, cupy.get_default_memory_pool(), "cupy")
    managed = cupy.cuda.MemoryPool(cupy.cuda.malloc_managed)
    memtrace_pools.trace_cupy(managed, "cupy-managed")
    cupy_steps(cupy, managed, "cupy-managed")
    print("cupy", sorted(KEPT))


# --- RMM -------------------------------------------------------------------------------------------------


def rmm_told(make, name="rmm", upstream=None):
    """Makes what trace_rmm() gives RMM's resource; gives what marks its figures.

    They are RMM's own, whatever the pool: it counts what the pool is asked for, and what that takes.
    """
    import rmm

    taken = rmm.mr.StatisticsResourceAdaptor(upstream or rmm.mr.CudaMemoryResource())
    handed = rmm.mr.StatisticsResourceAdaptor(memtrace_pools.trace_rmm(make, taken, name))
    rmm.mr.set_current_device_resource(handed)

    def now():
        gc.collect()
        mark("pool", name, rmm_bytes(handed), rmm_bytes(taken))

    return now


def rmm_bytes(statistics):
    counts = statistics.allocation_counts
    return counts["current_bytes"] if isinstance(counts, dict) else counts.current_bytes


def rmm_buffer(size):
    import rmm

    buffer = rmm.DeviceBuffer(size=size)
    return buffer, buffer.ptr


def rmm_steps(pool, now, make=rmm_buffer):
    """`make` gives what keeps a block of RMM's, and where that is."""
    def keep(key, size):
        KEPT[key] = make(size)[0]

    now()
    for size in (5 * MIB + 1, 3 * MIB, 100, 0):
        keep(f"{pool} {size}", size)
        now()
    KEPT[f"{pool} large"], address = make(30 * MIB)
    mark("block", pool, hex(address), 30 * MIB)
    now()
    del KEPT[f"{pool} {5 * MIB + 1}"]
    now()
    # Born in one thread, ended in another.
    in_thread(lambda: keep("thread", 9 * MIB))
    now()
    del KEPT["thread"]
    in_thread(lambda: KEPT.pop(f"{pool} {3 * MIB}"))
    now()
    for _ in range(20):
        make(4 * MIB)
        make(64)
    now()
    mark("block", pool, hex(address), 30 * MIB)


def rmm_threads(pool, now):
    def work(number):
        for i in range(10):
            rmm_buffer((i % 7 + 1) * 100_000)
        KEPT[f"{pool} thread {number}"] = rmm_buffer((number + 1) * MIB)[0]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for step in (threading.Thread.start, threading.Thread.join):
        for thread in threads:
            step(thread)
    now()


@program
def rmm_pool():
    import rmm

    pools = []

    def make(upstream):
        pools.append(rmm.mr.PoolMemoryResource(upstream, 16 * MIB, 128 * MIB))
        return pools[-1]

    now = rmm_told(make)
    rmm_steps("rmm", now)
    rmm_threads("rmm", now)
    try:
        rmm.DeviceBuffer(size=256 * MIB)
    except MemoryError:
        now()
        mark("pool", "rmm", rmm_bytes(rmm.mr.get_current_device_resource()), pools[0].pool_size())
        print("rmm", sorted(KEPT))


@program
def rmm_managed():
    import rmm

    rmm_steps("rmm-managed", rmm_told(lambda upstream: rmm.mr.PoolMemoryResource(upstream, 16 * MIB), "rmm-managed",
                                      rmm.mr.ManagedMemoryResource()))
    print("rmm", sorted(KEPT))


@program
def rmm_arena():
    import rmm

    now = rmm_told(lambda upstream: rmm.mr.ArenaMemoryResource(upstream, 256 * MIB))
    rmm_steps("rmm", now)
    rmm_threads("rmm", now)
    print("rmm", sorted(KEPT))


@program
def rmm_binning():
    """Small sizes have a pool each, above one for all, and what is large comes from CUDA: all of it is the pool."""
    import rmm

    def make(upstream):
        pool = rmm.mr.BinningMemoryResource(rmm.mr.PoolMemoryResource(upstream, 64 * MIB), 18, 22)
        pool.add_bin(40 * MIB, upstream)
        return pool

    rmm_steps("rmm", rmm_told(make))
    print("rmm", sorted(KEPT))


@program
def rmm_async():
    """CUDA's own pool needs no recipe."""
    import rmm

    resource = rmm.mr.StatisticsResourceAdaptor(rmm.mr.CudaAsyncMemoryResource(32 * MIB))
    rmm.mr.set_current_device_resource(resource)
    rmm_steps("async:", lambda: mark("pool", "async:", rmm_bytes(resource), "-"))
    print("rmm", sorted(KEPT))


class Cycle:
    """What the garbage collector alone ends."""

    def __init__(self, kept):
        self.kept, self.itself = kept, self


@program
def rmm_collected():
    """The collector comes at every moment of a pool's growth and ends blocks, their pool in the end, too."""
    import rmm

    def pool():
        rmm.mr.set_current_device_resource(
            memtrace_pools.trace_rmm(lambda upstream: rmm.mr.PoolMemoryResource(upstream, MIB)))

    gc.disable()
    for moment in range(40):
        pool()
        Cycle(rmm.DeviceBuffer(size=1000))
        gc.set_threshold(gc.get_count()[0] + moment)
        gc.enable()
        grown = rmm.DeviceBuffer(size=2 * MIB)
        gc.disable()
        del grown
        rmm.mr.set_current_device_resource(rmm.mr.CudaMemoryResource())
        gc.collect()
        mark("pool", "rmm", 0, 0)
    pool()
    Cycle(rmm.DeviceBuffer(size=1000))
    rmm.mr.set_current_device_resource(rmm.mr.CudaMemoryResource())
    mark("pool", "rmm", 1000, MIB)
    print("rmm", moment)


@program
def rmm_cupy():
    import cupy
    import rmm
    import rmm.allocators.cupy

    now = rmm_told(lambda upstream: rmm.mr.PoolMemoryResource(upstream, 16 * MIB))
    cupy.cuda.set_allocator(rmm.allocators.cupy.rmm_cupy_allocator)

    def array(size):
        made = cupy.empty(size, dtype=cupy.uint8)
        return made, made.data.ptr

    rmm_steps("rmm", now, array)
    print("rmm", sorted(KEPT))


@program
def rmm_numba():
    os.environ["NUMBA_CUDA_USE_NVIDIA_BINDING"] = "1"  # RMM 25.12 gives Numba other pointers without
    from numba import cuda
    import rmm
    import rmm.allocators.numba

    now = rmm_told(lambda upstream: rmm.mr.PoolMemoryResource(upstream, 16 * MIB))
    cuda.set_memory_manager(rmm.allocators.numba.RMMNumbaManager)

    def array(size):
        made = cuda.device_array(size, dtype="u1")
        return made, made.__cuda_array_interface__["data"][0]

    rmm_steps("rmm", now, array)
    print("rmm", sorted(KEPT))


@program
def rmm_torch():
    import rmm
    import torch
    from rmm.allocators.torch import rmm_torch_allocator

    now = rmm_told(lambda upstream: rmm.mr.PoolMemoryResource(upstream, 16 * MIB))
    torch.cuda.memory.change_current_allocator(rmm_torch_allocator)

    def tensor(size):
        made = torch.empty(size, dtype=torch.uint8, device="cuda")
        return made, made.data_ptr()

    rmm_steps("rmm", now, tensor)
    print("rmm", sorted(KEPT))


# --- JAX -------------------------------------------------------------------------------------------------


def jax_steps(pool):
    import jax
    import jax.numpy as jnp

    device = jax.local_devices()[0]
    double = jax.jit(lambda x: x * 2)

    def now():
        gc.collect()
        memtrace_pools.look_at_jax()
        stats = device.memory_stats()
        if pool == "jax":
            # JAX counts whole chunks: BFC splits one only if half of it or 128 MiB would be left. And what is no
            # array: constants and compiled programs' own, which may be alone in what it took from CUDA.
            mark("pool", "jax", stats["bytes_in_use"], "-", stats["bytes_in_use"] // 2 + (64 << 10))
        for array in KEPT.values():
            mark("block", pool, hex(array.unsafe_buffer_pointer()), array.nbytes)

    for count in (5 * MIB, 3 * MIB + 1, 10):
        KEPT[count] = jnp.ones(count, dtype=jnp.float32).block_until_ready()
        now()
    del KEPT[5 * MIB]
    now()
    KEPT["double"] = double(KEPT[3 * MIB + 1]).block_until_ready()
    now()
    print("jax", float(KEPT["double"][0]))


@program
def jax_preallocated():
    os.environ["XLA_PYTHON_CLIENT_MEM_FRACTION"] = "0.1"
    jax_steps("jax")


@program
def jax_growing():
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    jax_steps("jax")


@program
def jax_platform():
    os.environ["XLA_PYTHON_CLIENT_ALLOCATOR"] = "platform"
    jax_steps("-")


@program
def jax_async():
    os.environ["XLA_PYTHON_CLIENT_ALLOCATOR"] = "cuda_async"
    jax_steps("async:")


# --- PyTorch's pluggable allocator: samples/pluggable.c --------------------------------------------------


@program
def torch_pluggable():
    import torch

    allocator = torch.cuda.memory.CUDAPluggableAllocator(os.environ["PLUGGABLE"], "plug_take", "plug_give")
    torch.cuda.memory.change_current_allocator(allocator)

    def now():
        gc.collect()
        own = [t for t in KEPT.values() if t.nbytes <= 16 * MIB]
        mark("pool", "pluggable", sum(t.nbytes for t in own), "-")
        for tensor in KEPT.values():
            pool = "pluggable" if tensor.nbytes <= 16 * MIB else "-"
            mark("block", pool, hex(tensor.data_ptr()), tensor.nbytes)

    for size in (5 * MIB + 1, 3 * MIB, 100, 40 * MIB):
        KEPT[size] = torch.empty(size, dtype=torch.uint8, device="cuda")
        now()
    del KEPT[5 * MIB + 1]
    now()
    for _ in range(50):
        torch.empty(4 * MIB, dtype=torch.uint8, device="cuda")
    now()
    print("pluggable", sorted(KEPT))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        print("\n".join(PROGRAMS))
    else:
        PROGRAMS[sys.argv[1]]()
