#!/usr/bin/env python3
"""A model of which each half is on a GPU of its own, trained in one process: what tests/data has as two_devices.

Each step is an NVTX range. At the end it prints for each device, in bytes: allocated, peak allocated, reserved,
peak reserved.
"""
import torch
from torch import nn

WIDTH, BATCH, STEPS = 1024, 4096, 4


class Halves(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)).to("cuda:0")
        self.second = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH)).to("cuda:1")

    def forward(self, x):
        return self.second(self.first(x).to("cuda:1"))


def main():
    torch.manual_seed(0)
    model = Halves()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for step in range(STEPS):
        torch.cuda.nvtx.range_push(f"step {step}")
        loss = model(torch.randn(BATCH, WIDTH, device="cuda:0")).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        torch.cuda.nvtx.range_pop()
    del loss
    for device in range(2):
        print(device, torch.cuda.memory_allocated(device), torch.cuda.max_memory_allocated(device),
              torch.cuda.memory_reserved(device), torch.cuda.max_memory_reserved(device))


if __name__ == "__main__":
    main()
