"""What the experiments share: a step is a phase of the trace, and PyTorch's own counters of it."""
import contextlib

import torch


def heading(*columns):
    print("%-44s" % columns[0] + "".join("%16s" % c for c in columns[1:]))


def row(name, *figures):
    print("%-44s" % name + "".join("%16s" % f"{f:,}" for f in figures))


@contextlib.contextmanager
def step(name):
    """Prints what the step leaves allocated, and how far it went above what was there before it."""
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    torch.cuda.nvtx.range_push(name)
    try:
        yield
    finally:
        torch.cuda.nvtx.range_pop()
        row(name, torch.cuda.memory_allocated() - before, torch.cuda.max_memory_allocated() - before)


def counters(name):
    """Prints PyTorch's counters, and marks the moment in the trace."""
    torch.cuda.nvtx.mark(name)
    row(name, torch.cuda.memory_allocated(), torch.cuda.memory_reserved())
