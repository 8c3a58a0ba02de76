#!/usr/bin/env python3
"""One program for each library that takes GPU memory; libraries.py NAME runs it, without NAME it lists them.

After every step the program asks the driver how much of the device is occupied (cuMemGetInfo) and marks the
trace with it: "driver USED". libraries_check.py holds the trace's `reserved` to these. What is no allocation
(contexts, kernels that are loaded when first used) has to be there before the first mark, so each program
does its steps once before it begins to mark. Prints what it computed, which must be the same when traced.
"""
import ctypes
import gc
import os
import sys

MIB = 1 << 20
PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


class Driver:
    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.mark = getattr(ctypes.CDLL(None), "memtrace_mark", lambda text: None)
        self.context = ctypes.c_void_p()
        assert self.cuda.cuInit(0) == 0
        assert self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(self.context), 0) == 0

    def used(self):
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        assert self.cuda.cuCtxPushCurrent_v2(self.context) == 0
        assert self.cuda.cuCtxSynchronize() == 0
        assert self.cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)) == 0
        assert self.cuda.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p())) == 0
        return total.value - free.value

    def now(self):
        self.mark(b"driver %d" % self.used())


def steps(*each, empty=lambda: None):
    """Runs the steps once unmarked, then twice with a mark after every one of them."""
    driver = Driver()
    for step in each:
        step()
    gc.collect()
    empty()
    driver.now()
    for _ in range(2):
        for step in each:
            step()
            driver.now()
        gc.collect()
        empty()
        driver.now()


# --- CuPy ------------------------------------------------------------------------------------------------


def cupy_steps(cupy):
    kept = {}

    def arrays():
        kept["a"] = cupy.ones(5 * MIB, dtype=cupy.float32)
        kept["b"] = cupy.arange(3 * MIB, dtype=cupy.float64)

    def product():
        a = kept["a"][: 1024 * 1024].reshape(1024, 1024)
        kept["c"] = a @ a

    def solve():
        a = cupy.eye(512, dtype=cupy.float32) * 2
        kept["d"] = cupy.linalg.solve(a, cupy.ones(512, dtype=cupy.float32))

    def transform():
        kept["e"] = cupy.fft.fft(kept["b"][: 1 << 20])

    def drop():
        print("cupy", float(kept["c"][0, 0]), float(kept["d"][0]), float(kept["e"][0].real))
        kept.clear()

    return arrays, product, solve, transform, drop


@program
def cupy_default():
    import cupy

    steps(*cupy_steps(cupy), empty=lambda: (cupy.fft.config.get_plan_cache().clear(),
                                            cupy.get_default_memory_pool().free_all_blocks()))


@program
def cupy_async():
    import cupy

    pool = cupy.cuda.MemoryAsyncPool()
    cupy.cuda.set_allocator(pool.malloc)
    steps(*cupy_steps(cupy), empty=lambda: (cupy.fft.config.get_plan_cache().clear(),
                                            cupy.cuda.Device().synchronize(), pool.free_all_blocks()))


# --- JAX -------------------------------------------------------------------------------------------------


def jax_steps():
    import jax
    import jax.numpy as jnp

    kept = {}
    product = jax.jit(lambda x: (x @ x).sum())

    def arrays():
        kept["a"] = jnp.ones((2048, 2048)).block_until_ready()
        kept["b"] = jnp.ones((32, MIB)).block_until_ready()

    def multiply():
        kept["c"] = float(product(kept["a"]))

    def transform():
        kept["d"] = jnp.fft.fft(kept["b"][0]).block_until_ready()

    def drop():
        print("jax", kept["c"], float(kept["d"][0].real))
        kept.clear()

    steps(arrays, multiply, transform, drop)


@program
def jax_preallocated():
    os.environ["XLA_PYTHON_CLIENT_MEM_FRACTION"] = "0.1"
    jax_steps()


@program
def jax_growing():
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    jax_steps()


@program
def jax_platform():
    os.environ["XLA_PYTHON_CLIENT_ALLOCATOR"] = "platform"
    jax_steps()


# --- Numba, Triton ---------------------------------------------------------------------------------------


@program
def numba():
    import numpy
    from numba import cuda

    kept = {}

    def arrays():
        kept["a"] = cuda.to_device(numpy.ones(5 * MIB, numpy.float32))
        kept["b"] = cuda.device_array(3 * MIB, numpy.float64)
        kept["c"] = cuda.managed_array(MIB, numpy.float32)

    def copy():
        print("numba", kept["a"][:1].copy_to_host()[0])

    # Numba frees when it has collected some: its deferred frees are done at once here.
    steps(arrays, copy, kept.clear, empty=lambda: cuda.current_context().deallocations.clear())


@program
def triton():
    import torch
    import triton
    import triton.language as tl

    sys.modules["__main__"].tl = tl
    kept = {}
    kernel = triton.jit(triton_kernel)

    def arrays():
        kept["x"] = torch.ones(6 * MIB, device="cuda")

    def run():
        kernel[(6 * MIB // 1024,)](kept["x"], BLOCK=1024)
        print("triton", float(kept["x"][0]))

    steps(arrays, run, kept.clear, empty=torch.cuda.empty_cache)


def triton_kernel(x, BLOCK: "tl.constexpr"):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at) * 3)


# --- NCCL ------------------------------------------------------------------------------------------------


@program
def nccl():
    import torch
    import torch.distributed as dist

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29511")
    torch.cuda.set_device(0)
    dist.init_process_group("nccl", rank=0, world_size=1, device_id=torch.device("cuda:0"))
    kept = {}

    def group():
        kept["group"] = dist.new_group([0], backend="nccl")

    def reduce():
        kept["x"] = torch.ones(4 * MIB, device="cuda")
        dist.all_reduce(kept["x"], group=kept["group"])
        print("nccl", float(kept["x"][0]))

    def end():
        dist.destroy_process_group(kept.pop("group"))
        kept.clear()

    steps(group, reduce, end, empty=torch.cuda.empty_cache)
    dist.destroy_process_group()


# --- PyTorch in its allocator modes, and the libraries beneath it ----------------------------------------


def torch_steps(**settings):
    os.environ.update(settings)
    import torch

    torch.manual_seed(0)
    kept = {}

    def train():
        model = torch.nn.Sequential(torch.nn.Conv2d(3, 64, 3), torch.nn.ReLU(), torch.nn.Flatten(),
                                    torch.nn.LazyLinear(256)).cuda()
        x = torch.ones(32, 3, 32, 32, device="cuda")
        optimizer = torch.optim.AdamW(model.parameters())
        for _ in range(3):
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        kept["model"] = model

    def transform():
        kept["f"] = torch.fft.fft2(torch.ones(1024, 1024, device="cuda"))

    def solve():
        kept["s"] = torch.linalg.eigvalsh(torch.eye(256, device="cuda"))
        kept["q"] = torch.linalg.qr(torch.ones(300, 300, device="cuda"))[1]

    def large():
        kept["large"] = [torch.ones(n * MIB, device="cuda") for n in (3, 7, 11, 40)]
        del kept["large"][1::2]

    def drop():
        print("torch", float(kept["f"][0, 0].real), float(kept["s"][0]))
        kept.clear()

    steps(train, transform, solve, large, drop,
          empty=lambda: (torch.cuda.synchronize(), torch.cuda.empty_cache()))


@program
def torch_default():
    torch_steps()


@program
def torch_expandable():
    torch_steps(PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True")


@program
def torch_async():
    torch_steps(PYTORCH_CUDA_ALLOC_CONF="backend:cudaMallocAsync")


@program
def torch_uncached():
    torch_steps(PYTORCH_NO_CUDA_MEMORY_CACHING="1")


@program
def torch_mempool():
    import torch

    kept = {}

    def own_pool():
        kept["pool"] = torch.cuda.MemPool()
        with torch.cuda.use_mem_pool(kept["pool"]):
            kept["a"] = torch.ones(9 * MIB, device="cuda")
        kept["b"] = torch.ones(9 * MIB, device="cuda")

    def drop():
        print("mempool", float(kept["a"][0] + kept["b"][0]))
        kept.clear()

    steps(own_pool, drop, empty=lambda: (torch.cuda.synchronize(), torch.cuda.empty_cache()))


@program
def torch_graphs():
    import torch

    kept = {}

    def capture():
        x = torch.ones(2048, 2048, device="cuda")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.stream(torch.cuda.Stream()):
            x @ x  # cuBLAS must have begun before a capture
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            y = (x @ x).relu() + 1
        kept.update(x=x, y=y, graph=graph)

    def replay():
        for _ in range(3):
            kept["graph"].replay()
        print("graph", float(kept["y"][0, 0]))

    steps(capture, replay, kept.clear,
          empty=lambda: (torch.cuda.synchronize(), torch.cuda.empty_cache()))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        print("\n".join(PROGRAMS))
    else:
        PROGRAMS[sys.argv[1]]()
