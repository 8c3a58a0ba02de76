#!/usr/bin/env python3
"""A small model trained for a few steps, with the changes that people make: what tests/data/recorded/change-*
were recorded from (tests/gpu/record.sh).

  --batch N          sequences a step
  --checkpoint       activations are computed again in the backward pass
  --optimizer NAME   sgd or adamw
  --autocast         the forward pass computes in bfloat16 where autocast does
  --keep-losses      losses are kept in a list, graph and all
"""
import argparse

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Model(nn.Module):
    def __init__(self, width, layers, vocabulary):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(layers))
        self.head = nn.Linear(width, vocabulary, bias=False)

    def run_block(self, block, x, again):
        return checkpoint(block, x, use_reentrant=False) if again else block(x)

    def forward(self, tokens, again):
        x = self.embed(tokens)
        for block in self.blocks:
            x = self.run_block(block, x, again)
        return self.head(x)


def make_optimizer(name, model):
    if name == "adamw":
        return torch.optim.AdamW(model.parameters(), lr=3e-4)
    return torch.optim.SGD(model.parameters(), lr=1e-3)


def compute_loss(model, tokens, again):
    logits = model(tokens[:, :-1], again)
    return F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


def train(options, device):
    model = Model(options.width, options.layers, options.vocabulary).to(device)
    optimizer = make_optimizer(options.optimizer, model)
    losses = []
    for step in range(options.steps):
        if device == "cuda":
            torch.cuda.nvtx.range_push(f"step {step}")
        tokens = torch.randint(options.vocabulary, (options.batch, options.length + 1), device=device)
        with torch.autocast(device, torch.bfloat16, enabled=options.autocast):
            loss = compute_loss(model, tokens, options.checkpoint)
        loss.backward(retain_graph=options.keep_losses)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append(loss if options.keep_losses else loss.item())
        if device == "cuda":
            torch.cuda.nvtx.range_pop()
    return losses


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--checkpoint", action="store_true")
    parser.add_argument("--optimizer", choices=("sgd", "adamw"), default="sgd")
    parser.add_argument("--autocast", action="store_true")
    parser.add_argument("--keep-losses", action="store_true")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--vocabulary", type=int, default=1024)
    parser.add_argument("--device", default="cuda", help="cpu: with MEMTRACE_CPU=1")
    options = parser.parse_args()
    torch.manual_seed(0)
    losses = train(options, options.device)
    print(f"loss={float(losses[-1]):.4f}")
    if options.device == "cuda":
        print(f"peak={torch.cuda.max_memory_allocated()}")


if __name__ == "__main__":
    main()
