#!/usr/bin/env python3
"""Programs whose whole memory must have a name; used.py NAME runs one, without NAME it lists them.

Each is a row of stages. Behind every stage the trace gets a mark "stage NAME USED" with what
cuMemGetInfo says then (0 without a context), which used_check.py shows beside what the trace says.
"""
import ctypes
import os
import sys

MIB = 1 << 20
PROGRAMS = {}
mark = getattr(ctypes.CDLL(None), "memtrace_mark", lambda text: None)
cuda = ctypes.CDLL("libcuda.so.1")


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def occupied():
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    if cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)):
        return 0
    return total.value - free.value


def stage(name):
    mark(f"stage {name} {occupied()}".encode())


def check(status):
    if status:
        raise RuntimeError(f"the driver says {status}")


# --- the driver alone: heaps, granules, streams --------------------------------------------------------


def begin():
    context = ctypes.c_void_p()
    check(cuda.cuInit(0))
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    check(cuda.cuCtxSetCurrent(context))
    stage("context")


def take(size):
    pointer = ctypes.c_uint64()
    check(cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(size)))
    return pointer


@program
def granules():
    """Sizes around those at which the driver changes how it rounds."""
    begin()
    held = {}
    for size in (1, 512, 4096, 64 << 10, 256 << 10, 512 << 10, MIB - 512, MIB, MIB + 1, MIB + 512,
                 3 * MIB // 2, 2 * MIB - 512, 2 * MIB, 2 * MIB + 1, 3 * MIB, 5 * MIB, 33 * MIB + 1):
        before = occupied()
        held[size] = [take(size) for _ in range(3)]
        print(f"3 x {size}: {occupied() - before}")
        stage(f"alloc {size}")
    small = [take(1000 + i) for i in range(5000)]
    stage("alloc 5000 small")
    for pointer in small[::2]:
        check(cuda.cuMemFree_v2(pointer))
    stage("free every other")
    for pointer in small[1::2]:
        check(cuda.cuMemFree_v2(pointer))
    stage("free the others")
    for size, pointers in held.items():
        before = occupied()
        for pointer in pointers:
            check(cuda.cuMemFree_v2(pointer))
        print(f"free 3 x {size}: {occupied() - before}")
        stage(f"free {size}")


@program
def limits():
    begin()
    pointer = take(MIB)
    for name, number, values in (("stack", 0, (4096, 16384, 65536, 1024)),
                                 ("printf", 1, (8 * MIB, 64 * MIB)),
                                 ("malloc", 2, (64 * MIB, 512 * MIB)),
                                 ("pending", 4, (65536,))):
        for value in values:
            before = occupied()
            status = cuda.cuCtxSetLimit(number, ctypes.c_size_t(value))
            print(f"{name} {value}: status {status}, {occupied() - before}")
            stage(f"{name} {value}")
    streams = []
    for _ in range(64):
        stream = ctypes.c_void_p()
        check(cuda.cuStreamCreate(ctypes.byref(stream), 1))
        streams.append(stream)
    stage("64 streams")
    for stream in streams:
        check(cuda.cuStreamDestroy_v2(stream))
    stage("no streams")
    check(cuda.cuMemFree_v2(pointer))
    stage("end")


@program
def ordered():
    """Pools, pinned, managed memory: what is sampled, and what is on the host."""
    begin()
    pointers = []
    for size in (1000, MIB, 40 * MIB):
        pointer = ctypes.c_uint64()
        check(cuda.cuMemAllocAsync(ctypes.byref(pointer), ctypes.c_size_t(size), None))
        pointers.append(pointer)
        stage(f"async {size}")
    for pointer in pointers:
        check(cuda.cuMemFreeAsync(pointer, None))
    stage("freed")
    check(cuda.cuCtxSynchronize())
    stage("synchronised")
    take(MIB)
    stage("after")
    host = ctypes.c_void_p()
    check(cuda.cuMemHostAlloc(ctypes.byref(host), ctypes.c_size_t(256 * MIB), 0))
    stage("pinned 256 MiB")
    take(3 * MIB)
    stage("after pinned")


# --- PyTorch ---------------------------------------------------------------------------------------------


def model(torch):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = torch.nn.Conv2d(3, 32, 3, padding=1)
            self.norm = torch.nn.BatchNorm2d(32)
            self.encoder = torch.nn.TransformerEncoder(
                torch.nn.TransformerEncoderLayer(256, 8, 1024, batch_first=True), 2)
            self.head = torch.nn.Linear(256, 1000)

        def forward(self, x):
            x = torch.relu(self.norm(self.conv(x)))
            x = x.flatten(2)[:, :, :256]
            return self.head(self.encoder(x)).mean(1)

    return Net().cuda()


@program
def train():
    import torch

    torch.manual_seed(0)
    torch.cuda.init()
    stage("init")
    x = torch.zeros(4, device="cuda")
    stage("first tensor")
    torch.randn(1000, device="cuda").sum().item()
    stage("first kernels")
    a = torch.randn(2048, 2048, device="cuda")
    (a @ a).sum().item()
    stage("cublas")
    (a.half() @ a.half()).float().sum().item()
    stage("cublas half")
    net = model(torch)
    optimizer = torch.optim.AdamW(net.parameters())
    for step in range(20):
        images = torch.randn(16, 3, 32, 32, device="cuda")
        loss = torch.nn.functional.cross_entropy(net(images), torch.arange(16, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step in (0, 1, 19):
            loss.item()
            stage(f"step {step}")
    torch.linalg.solve(a[:512, :512], a[:512, :1])
    torch.cuda.synchronize()
    stage("cusolver")
    torch.fft.fft(a).abs().sum().item()
    stage("cufft")
    torch.sort(a.flatten())[0][0].item()
    stage("sort")
    torch.cuda.empty_cache()
    stage("empty_cache")
    print("train", x.sum().item())


@program
def graph():
    """Kernels that are launched for the first time while a graph is captured."""
    import torch

    static = torch.randn(1 << 20, device="cuda")
    torch.cuda.synchronize()
    stage("tensor")
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        out = torch.erfinv(torch.tanh(static)).cumsum(0)
    stage("captured")
    for _ in range(3):
        captured.replay()
    print("graph", out.isfinite().any().item())
    stage("replayed")


@program
def nccl():
    import torch
    import torch.distributed as distributed

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29531", RANK="0", WORLD_SIZE="1")
    x = torch.ones(MIB, device="cuda")
    stage("tensor")
    distributed.init_process_group("nccl")
    stage("group")
    distributed.all_reduce(x)
    print("nccl", x[0].item())
    stage("all_reduce")
    distributed.destroy_process_group()
    stage("destroyed")


@program
def triton():
    import torch

    x = torch.randn(1 << 20, device="cuda")
    stage("tensor")
    f = torch.compile(lambda v: torch.sin(v) * 2 + v.sum())
    print("triton", f(x).isfinite().all().item())
    stage("compiled")


@program
def reset():
    """A context ends, and another begins."""
    import ctypes.util

    begin()
    take(5 * MIB)
    stage("memory")
    check(cuda.cuCtxSetLimit(2, ctypes.c_size_t(256 * MIB)))
    stage("heap")
    check(cuda.cuDevicePrimaryCtxReset_v2(0))
    stage("reset")
    begin()
    take(3 * MIB)
    stage("again")


def main():
    if len(sys.argv) < 2:
        print("\n".join(PROGRAMS))
        return
    PROGRAMS[sys.argv[1]]()


if __name__ == "__main__":
    main()
