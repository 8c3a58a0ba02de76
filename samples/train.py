#!/usr/bin/env python3
"""A small GPT-like transformer trained with AdamW for a few steps: what `make demo` traces on a GPU.

Prints PyTorch's own counters, to be compared with what memtrace says. `--check` also tells the trace,
after every operator, what PyTorch believes it holds (a mark "torch A R"): tests/gpu compares each.
"""
import argparse
import ctypes

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def attend(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-2, -1) * (width // self.heads) ** -0.5).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Model(nn.Module):
    def __init__(self, vocabulary, width, layers, heads):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Check(TorchDispatchMode):
    """After every operator, marks what PyTorch says it has allocated and reserved."""

    mark = getattr(ctypes.CDLL(None), "memtrace_mark", lambda text: None)

    @classmethod
    def now(cls):
        allocated, reserved = torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
        Check.mark(b"torch %d %d" % (allocated, reserved))

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        self.now()
        return result


def train(options):
    model = Model(options.vocabulary, options.width, options.layers, options.heads).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for step in range(options.steps):
        torch.cuda.nvtx.range_push(f"step {step}")
        tokens = torch.randint(options.vocabulary, (options.batch, options.length + 1), device="cuda")
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        torch.cuda.nvtx.range_pop()
    return loss.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--vocabulary", type=int, default=4096)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    torch.manual_seed(0)
    if options.check:
        with Check():
            loss = train(options)
        Check.now()
        torch.cuda.empty_cache()
        Check.now()
    else:
        loss = train(options)
    print(f"loss={loss:.4f}")
    print(f"allocated={torch.cuda.memory_allocated()} peak={torch.cuda.max_memory_allocated()}")
    print(f"reserved={torch.cuda.memory_reserved()} peak={torch.cuda.max_memory_reserved()}")


if __name__ == "__main__":
    main()
