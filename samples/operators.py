#!/usr/bin/env python3
"""What an expression costs: (x + 1) * (2 * y) without gradients, with one, with both, and fused.

x and y are of 1 GiB, or --mib of MiB. What autograd saves for the backward pass stays allocated as long as
the result lives; what it need not save is gone at once. Each variant is a phase of the trace: `memtrace
report` has its lasting and its peak bytes; `--only NAME` runs one, for `memtrace diff` of two runs.
"""
import argparse

import torch

from steps import heading, step


class Fused(torch.autograd.Function):
    """(x + 1) * (2 * y), with nothing saved but x and y themselves."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return (x + 1) * (2 * y)

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return grad * (2 * y), grad * (2 * (x + 1))


class FusedInPlace(Fused):
    """The same with the temporaries reused: a lower peak."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return (x + 1).mul_(y).mul_(2)

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return (grad * y).mul_(2), (x + 1).mul_(grad).mul_(2)


def plain(x, y):
    return (x + 1) * (2 * y)


def sigmoid_by_hand(x, y):
    return 1 / (1 + torch.exp(-x))


def sigmoid(x, y):
    return torch.sigmoid(x)


VARIANTS = {
    "no gradients": (plain, False, False),
    "gradient of x": (plain, True, False),
    "gradients of x and y": (plain, True, True),
    "fused, gradients of both": (Fused.apply, True, True),
    "fused, in place, gradients of both": (FusedInPlace.apply, True, True),
    "sigmoid by hand": (sigmoid_by_hand, True, False),
    "torch.sigmoid": (sigmoid, True, False),
}

parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("--mib", type=int, default=1024, help="MiB of x, and of y (1024)")
parser.add_argument("--only", choices=VARIANTS, help="run this variant alone")
arguments = parser.parse_args()

x, y = (torch.rand(arguments.mib << 18, device="cuda") for _ in range(2))
heading("step", "left allocated", "peak above")
for name, (function, of_x, of_y) in VARIANTS.items():
    if arguments.only not in (None, name):
        continue
    x.requires_grad_(of_x), y.requires_grad_(of_y)
    x.grad = y.grad = None
    with step(name + ": forward"):
        result = function(x, y)
    if of_x or of_y:
        ones = torch.ones_like(result)
        with step(name + ": backward"):
            result.backward(ones)
        del ones
    with step(name + ": del"):
        del result
        x.grad = y.grad = None
