#!/usr/bin/env python3
"""Where a training step's memory comes from: parameters, activations, output, gradients, workspaces.

Three Linear(1024, 1024, bias=False) with GELU on a batch of 1024: every tensor is of 4 MiB, so each can be
counted on one's fingers. What does not add up is cuBLAS's workspace: taken by the first matrix product of
each handle, so once in the first forward pass and again in the first backward pass, whose thread has a
handle of its own (8.125 MiB each before Hopper, 32 MiB on it). `memtrace report` names it.
"""
import torch
from torch import nn

from steps import counters, heading, step


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(1024, 1024, bias=False)
        self.second = nn.Linear(1024, 1024, bias=False)
        self.third = nn.Linear(1024, 1024, bias=False)

    def forward(self, x):
        x = self.first(x)
        x = nn.functional.gelu(x)
        x = self.second(x)
        x = nn.functional.gelu(x)
        x = self.third(x)
        return x


def train(model, x, times=2):
    for i in range(times):
        with step(f"forward {i}"):
            output = model(x)
        with step(f"backward {i}"):
            output.backward(torch.ones_like(output))
        with step(f"del output {i}"):
            del output
        with step(f"zero_grad {i}"):
            model.zero_grad(set_to_none=True)


def attend(model, x):
    output = model(x, x, x)
    return output[0] if isinstance(output, tuple) else output


heading("", "allocated", "reserved")
with torch.no_grad():
    x = torch.ones(1024, 1024, device="cuda")
counters("input")
heading("step", "left allocated", "peak above")
with step("parameters"):
    model = Net().cuda()
train(model, x)
with step("forward without gradients"), torch.no_grad():
    output = model(x)
del output, model

batch = torch.randn(2, 1024, 1024, device="cuda")
for name, make, call in (
    ("MultiheadAttention", lambda: nn.MultiheadAttention(1024, 1, bias=False), attend),
    ("TransformerEncoderLayer", lambda: nn.TransformerEncoderLayer(1024, 1, 4096, dropout=0.),
     lambda model, x: model(x)),
):
    with step(f"{name}: parameters"):
        model = make().cuda()
    with step(f"{name}: forward"):
        output = call(model, batch)
    with step(f"{name}: backward"):
        output.sum().backward()
    with step(f"{name}: del output"):
        del output
    with step(f"{name}: zero_grad"):
        model.zero_grad(set_to_none=True)
    model.eval()
    with step(f"{name}: forward without gradients"), torch.no_grad():
        output = call(model, batch)
    with step(f"{name}: the end"):
        del output, model
heading("", "allocated", "reserved")
counters("at the end")
