#!/usr/bin/env python3
"""How PyTorch's caching allocator keeps memory: what is allocated, what is reserved, what is stuck.

`memtrace report` beside torch.cuda.memory_summary(): the first knows who asked and what other libraries hold,
the second what waits for a stream and which sizes were asked for.
"""
import torch

from steps import counters, heading, step

MIB = 1 << 20


def bytes_of(mib):
    return torch.empty(int(mib * MIB), dtype=torch.uint8, device="cuda")


def reuse():
    """One cudaMalloc serves both."""
    a = bytes_of(40)
    counters("40 MiB")
    del a
    counters("freed: cached")
    b = bytes_of(40)
    counters("40 MiB again")
    del b
    torch.cuda.empty_cache()
    counters("empty_cache")


def segments():
    """Up to 1 MiB from segments of 2 MiB, up to 10 MiB from segments of 20 MiB, above as asked for."""
    blocks = []
    for mib in (0.001, 1, 5, 9, 12):
        blocks.append(bytes_of(mib))
        counters(f"one more of {mib} MiB")
    blocks.clear()
    torch.cuda.empty_cache()


def fragments():
    """Every other block is freed: much is cached, and none of it serves a larger block."""
    blocks = [bytes_of(5) for _ in range(32)]
    counters("32 blocks of 5 MiB")
    kept = blocks[::2]
    del blocks
    counters("every other one freed")
    torch.cuda.empty_cache()
    counters("empty_cache cannot give a segment back that is in use")
    large = bytes_of(60)
    counters("60 MiB: a new segment")
    del kept, large
    torch.cuda.empty_cache()


def fraction():
    """A limit of one's own: out of memory without the driver being asked."""
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction(64 * MIB / total)
    try:
        bytes_of(100)
    except torch.OutOfMemoryError:
        counters("100 MiB under a limit of 64 MiB: out of memory")
    torch.cuda.set_per_process_memory_fraction(1.0)


def train(model, x, autocast):
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    scaler = torch.amp.GradScaler("cuda", enabled=autocast)
    with torch.autocast("cuda", torch.float16, enabled=autocast):
        loss = model(x).float().square().mean()
    counters("the graph, before backward()")
    scaler.scale(loss).backward()
    counters("freed by backward()")
    scaler.step(optimizer)
    scaler.update()


def precision():
    """Half the activations, and copies of the weights beside them."""
    for name, autocast in (("float32", False), ("autocast and GradScaler", True)):
        layers = [torch.nn.Linear(1024, 1024), torch.nn.GELU()] * 4
        model = torch.nn.Sequential(*layers).cuda()
        x = torch.ones(4096, 1024, device="cuda")
        with step(name):
            train(model, x, autocast)
        del model, x


def two_devices():
    if torch.cuda.device_count() < 2:
        return
    with torch.cuda.device(1):
        x = torch.ones(10 * MIB, device="cuda:1")
        counters("40 MiB on the second device")
        del x


heading("", "allocated", "reserved")
for part in (reuse, segments, fragments, fraction, precision, two_devices):
    part()
    torch.cuda.empty_cache()
print(torch.cuda.memory_summary(abbreviated=True))
