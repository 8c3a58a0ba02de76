"""PyTorch under control: control.py toggled|plain. Prints PyTorch's own figures, and what a step took."""
import ctypes
import sys
import time

import torch
from torch import nn

way = sys.argv[1]
library = ctypes.CDLL(None)
torch.manual_seed(1)
model = nn.Sequential(*[nn.Sequential(nn.Linear(512, 512), nn.GELU(), nn.LayerNorm(512)) for _ in range(8)]).cuda()
optimizer = torch.optim.AdamW(model.parameters())
kept = []
STEPS, TOGGLES = 200, 1000

# Each step toggles five times, among them in front of segments that are new.
toggles = 0
torch.cuda.synchronize()
began = time.perf_counter()
for step in range(STEPS):
    for part in range(TOGGLES // STEPS):
        if way == "toggled":
            (library.memtrace_stop if toggles % 2 else library.memtrace_start)()
            toggles += 1
        loss = model(torch.randn(64 + 64 * (step * part % 3), 512, device="cuda")).square().mean()
        loss.backward()
        del loss
    kept.append(torch.empty((1 + step % 5) << 18, device="cuda"))
    if step % 7 == 0:
        kept[: len(kept) // 2] = []
    if step % 20 == 0:
        torch.cuda.empty_cache()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
torch.cuda.synchronize()
print("seconds", time.perf_counter() - began, file=sys.stderr)
stats = torch.cuda.memory_stats()
for name in ("allocated_bytes", "reserved_bytes"):
    print(name, stats[f"{name}.all.current"], stats[f"{name}.all.peak"])
print("allocations", stats["allocation.all.allocated"], stats["allocation.all.freed"])
sys.stdout.flush()
