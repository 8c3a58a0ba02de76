#!/usr/bin/env python3
"""One rank of a small training, started by torchrun: ranks.py MODE STEPS FOLDER.

MODE is ddp (DistributedDataParallel), fsdp (FullyShardedDataParallel) or fsdp2 (fully_shard). Each step
is an NVTX range with forward, backward and optimizer inside; after each, the trace is told what PyTorch
believes it holds (a mark "torch ALLOCATED RESERVED"). What PyTorch says of the whole run goes to
FOLDER/figures.RANK.json.
"""
import ctypes
import json
import os
import sys

import torch
import torch.distributed as dist
from torch.nn import functional as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples"))
from train import Block, Model  # noqa: E402  (lies beside)

VOCABULARY, WIDTH, LAYERS, HEADS, BATCH, LENGTH = 4096, 512, 6, 8, 8, 256
MORE = int(os.environ.get("MORE", "0"))  # sequences that each rank trains more than the rank before it
mark = getattr(ctypes.CDLL(None), "memtrace_mark", lambda text: None)


def figures():
    return torch.cuda.memory_allocated(), torch.cuda.memory_reserved()


def tell():
    """Threads of NCCL's process group free what they kept at times of their own: a mark counts only
    when nothing changed around it."""
    torch.cuda.synchronize()
    for _ in range(100):
        before = figures()
        mark(b"torch %d %d" % before)
        if figures() == before:
            return
        mark(b"torch changed")
    raise SystemExit("PyTorch's figures never stand still")


def wrapped(mode, model):
    if mode == "ddp":
        return torch.nn.parallel.DistributedDataParallel(model, device_ids=[torch.cuda.current_device()])
    if mode == "fsdp":
        from torch.distributed.fsdp import FullyShardedDataParallel
        from torch.distributed.fsdp.wrap import ModuleWrapPolicy

        return FullyShardedDataParallel(model, auto_wrap_policy=ModuleWrapPolicy({Block}),
                                        device_id=torch.cuda.current_device(), use_orig_params=True)
    from torch.distributed.fsdp import fully_shard

    for block in model.blocks:
        fully_shard(block)
    return fully_shard(model)


def step(model, optimizer, batch):
    tokens = torch.randint(VOCABULARY, (batch, LENGTH + 1), device="cuda")
    with torch.cuda.nvtx.range("forward"):
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    with torch.cuda.nvtx.range("backward"):
        loss.backward()
    with torch.cuda.nvtx.range("optimizer"):
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return loss.item()


def main():
    mode, steps, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    rank, local = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl", device_id=torch.device("cuda", local))
    torch.manual_seed(rank)
    model = wrapped(mode, Model(VOCABULARY, WIDTH, LAYERS, HEADS).cuda())
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for number in range(steps):
        with torch.cuda.nvtx.range(f"step {number}"):
            loss = step(model, optimizer, BATCH + rank * MORE)
        tell()
    allocated, reserved = figures()
    with open(os.path.join(folder, f"figures.{rank}.json"), "w", encoding="utf-8") as file:
        json.dump({"rank": rank, "local_rank": local, "world_size": dist.get_world_size(), "device": local,
                   "steps": steps, "loss": loss, "torch": torch.__version__,
                   "peak_allocated": torch.cuda.max_memory_allocated(),
                   "peak_reserved": torch.cuda.max_memory_reserved(),
                   "allocated": allocated, "reserved": reserved}, file)
    # What the end of the process frees is not compared: figures and trace stand still here.
    mark(b"training ends")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
