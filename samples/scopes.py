#!/usr/bin/env python3
"""Who frees a tensor, and when: the same attention at module level and inside a function.

A name keeps its tensor until it is bound to another one. At module level `x = ...` frees the old x; inside
a function it does not, since the caller's x lives on. A temporary without a name leaves no trace in
memory_allocated(), but a peak. `memtrace report --by line` shows which line freed what.
"""
import torch

from steps import counters, heading, step

B, H, L, D = 64, 8, 32, 64
C = H * D


def attention(x, q, k, v):
    attn = (q @ k.transpose(-2, -1)) * 0.125
    x = (attn @ v).transpose(1, 2).reshape(B, L, C)  # the caller's x lives on
    return x


torch.set_grad_enabled(False)
heading("", "allocated", "reserved")
q, k, v = (torch.ones(B, H, L, D, device="cuda") for _ in range(3))
(q @ k.transpose(-2, -1)).sum()  # cuBLAS takes its workspace here
x = torch.ones(B, L, C, device="cuda")
counters("q, k, v and x")

heading("step", "left allocated", "peak above")
with step("module: attn = (q @ k) * 0.125"):
    attn = (q @ k.transpose(-2, -1)) * 0.125
with step("module: x = (attn @ v)...reshape(B, L, C)"):
    x = (attn @ v).transpose(1, 2).reshape(B, L, C)  # frees the old x, once the new one is there
with step("module: del attn"):
    del attn
with step("function: attention(x, q, k, v)"):
    attention(x, q, k, v)
with step("function: y = attention(x, q, k, v)"):
    y = attention(x, q, k, v)
with step("function: x = attention(x, q, k, v)"):
    x = attention(x, q, k, v)
with step("x + 1"):
    x + 1
with step("x = x + 1"):
    x = x + 1
with step("x += 1"):
    x += 1
heading("", "allocated", "reserved")
counters("at the end")
