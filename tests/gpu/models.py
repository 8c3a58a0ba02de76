#!/usr/bin/env python3
"""Many kinds of PyTorch programs, each telling the trace what PyTorch holds: models.py NAME.

After every operator (or, where operators cannot be seen one by one, after every step) a mark
"torch ALLOCATED RESERVED" from memory_stats() goes into the trace; marks.py compares. Prints the peaks,
which nothing resets, as name=value.
"""
import ctypes
import sys
import threading

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

MARK = getattr(ctypes.CDLL(None), "memtrace_mark", lambda text: None)
LOCK = threading.RLock()


def tell():
    with LOCK:
        stats = torch.cuda.memory_stats()
        MARK(b"torch %d %d" % (stats["allocated_bytes.all.current"], stats["reserved_bytes.all.current"]))


class Tell(TorchDispatchMode):
    """Other threads wait while an operator runs and PyTorch is asked, or the answer is of another moment."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        with LOCK:
            result = function(*args, **(kwargs or {}))
            tell()
        return result


def steps(model, batch, count=3, optimizer=torch.optim.AdamW, loss_of=lambda y: y.square().mean()):
    optimizer = optimizer(model.parameters(), lr=1e-3)
    for _ in range(count):
        loss = loss_of(model(batch()))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        tell()


def mlp():
    model = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 512)).cuda()
    with Tell():
        steps(model, lambda: torch.randn(256, 512, device="cuda"))


def encoder():
    model = nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True).cuda()
    with Tell():
        steps(model, lambda: torch.randn(16, 64, 256, device="cuda"))


class Images(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.full((3, 64, 64), float(index)), index % 10


def convolution():
    model = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(64, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    scaler = torch.amp.GradScaler("cuda")
    loader = torch.utils.data.DataLoader(Images(), batch_size=8, num_workers=4, pin_memory=True)
    for images, labels in loader:
        with Tell():
            with torch.autocast("cuda"):
                loss = F.cross_entropy(model(images.cuda()), labels.cuda())
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad(set_to_none=True)


def checkpointing():
    from torch.utils.checkpoint import checkpoint

    blocks = nn.ModuleList(nn.Sequential(nn.Linear(512, 512), nn.GELU()) for _ in range(6)).cuda()

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = blocks

        def forward(self, x):
            for block in self.blocks:
                x = checkpoint(block, x, use_reentrant=False)
            return x

    with Tell():
        steps(Model(), lambda: torch.randn(256, 512, device="cuda", requires_grad=True))


def graphs():
    model = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256)).cuda()
    static = torch.randn(64, 256, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        model(static).sum().backward()
    torch.cuda.current_stream().wait_stream(side)
    tell()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = model(static)
    tell()
    for _ in range(3):
        static.normal_()
        graph.replay()
        tell()
    del out, graph
    torch.cuda.synchronize()
    tell()


def compiled(mode=None):
    model = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 256)).cuda()
    steps(torch.compile(model, mode=mode), lambda: torch.randn(64, 256, device="cuda"), count=6)


def reduce_overhead():
    compiled("reduce-overhead")


def streams():
    other = torch.cuda.Stream()
    with Tell():
        for i in range(20):
            x = torch.randn(1 << 16, device="cuda")
            with torch.cuda.stream(other):
                other.wait_stream(torch.cuda.default_stream())
                y = x * 2
                x.record_stream(other)
            del x
            torch.cuda.current_stream().wait_stream(other)
            y.sum()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    tell()


def threads():
    def work(index):
        keep = []
        with Tell():
            for i in range(60):
                with LOCK:  # what is freed is freed here, not while another thread asks PyTorch
                    keep.append(torch.empty(1000 * (index + 1) + i, device="cuda"))
                    if len(keep) > 10:
                        del keep[i % 7]
                    (keep[-1] + 1).sum()
        with LOCK:
            keep.clear()
            tell()

    workers = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def out_of_memory():
    keep = torch.empty(1 << 28, device="cuda")
    try:
        torch.empty(1 << 47, device="cuda", dtype=torch.uint8)
    except torch.cuda.OutOfMemoryError:
        tell()
    del keep
    tell()


PROGRAMS = [mlp, encoder, convolution, checkpointing, graphs, compiled, reduce_overhead, streams, threads,
            out_of_memory]

if __name__ == "__main__":
    if len(sys.argv) < 2:
        print(*(program.__name__ for program in PROGRAMS))
        sys.exit(0)
    torch.manual_seed(0)
    globals()[sys.argv[1]]()
    tell()
    stats = torch.cuda.memory_stats()
    print(f"peak_allocated={stats['allocated_bytes.all.peak']} peak_reserved={stats['reserved_bytes.all.peak']}")
