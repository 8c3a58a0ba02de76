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


@program
def rmm_pool():
    import rmm

    pools = []

    def make(upstream):
        pools.append(rmm.mr.PoolMemoryResource(upstream, 16 * MIB))
        return pools[0]

    resource = rmm.mr.StatisticsResourceAdaptor(memtrace_pools.trace_rmm(make))
    rmm.mr.set_current_device_resource(resource)

    def now():
        counts = resource.allocation_counts
        used = counts["current_bytes"] if isinstance(counts, dict) else counts.current_bytes
        mark("pool", "rmm", used, pools[0].pool_size())

    now()
    for size in (5 * MIB + 1, 3 * MIB, 100, 30 * MIB):
        KEPT[size] = rmm.DeviceBuffer(size=size)
        now()
    del KEPT[5 * MIB + 1]
    now()
    in_thread(lambda: KEPT.pop(3 * MIB))
    now()
    for _ in range(50):
        rmm.DeviceBuffer(size=4 * MIB)
    now()
    mark("block", "rmm", hex(KEPT[30 * MIB].ptr), 30 * MIB)
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
