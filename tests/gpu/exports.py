"""Our torch-snapshot beside PyTorch's own.

exports.py program OWN     allocates and frees, and dumps PyTorch's own snapshot at an NVTX mark
exports.py read OURS       every reader of torch.cuda._memory_viz on our file
exports.py same OWN OURS   the same segments, and the same blocks in them
"""
import collections
import pickle
import sys


def program(own):
    import torch

    # cudaMallocAsync has no recorder of PyTorch's beside it.
    recorded = torch.cuda.get_allocator_backend() == "native"
    if recorded:
        torch.cuda.memory._record_memory_history(max_entries=100000)
    kept = []
    model = torch.nn.Sequential(*(torch.nn.Linear(1024, 1024) for _ in range(4))).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(3):
        torch.cuda.nvtx.range_push(f"step {step}")
        x = torch.randn(512, 1024, device="cuda")
        model(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        kept.append(torch.empty(3_000_000 + step * 100_000, device="cuda"))
        torch.cuda.nvtx.range_pop()
    del kept[1]
    torch.cuda.empty_cache()
    kept += [torch.empty(700, device="cuda") for _ in range(20)]
    del kept[5::3]
    torch.cuda.synchronize()
    torch.cuda.nvtx.mark("snapshot")
    if recorded:
        torch.cuda.memory._dump_snapshot(own)
        torch.cuda.memory._record_memory_history(enabled=None)


def load(path):
    with open(path, "rb") as file:
        return pickle.load(file)


def read(path):
    from torch.cuda import _memory_viz as viz

    data = load(path)
    total = sum(s["total_size"] for s in data["segments"])
    used = sum(b["size"] for s in data["segments"] for b in s["blocks"] if b["state"] == "active_allocated")

    def lines(text):
        return [line.rsplit(" ", 1) for line in text.splitlines()]

    told = lines(viz.segments(data, format_flamegraph=lambda text: text))
    assert sum(int(size) for _, size in told) == total, "segments() does not sum to what is reserved"
    told = lines(viz.memory(data, format_flamegraph=lambda text: text))
    assert sum(int(size) for name, size in told if ";active_allocated;" in name) == used, "memory() differs"
    compared = viz.compare(data["segments"], [], format_flamegraph=lambda text: text)
    assert sum(int(size) for _, size in lines(compared)) == total, "compare() differs"
    told = viz.segsum(data)
    assert f"total_reserved: {viz.Bytes(total)}" in told and f"total_allocated: {viz.Bytes(used)}" in told, told
    entries = sum(len(entries) for entries in data["device_traces"])
    told = viz.trace(data)
    assert sum(int(line.split()[0]) for line in told.splitlines() if line.endswith(" entries")) == entries
    for name in ("trace_plot", "segment_plot"):
        page = getattr(viz, name)(data)
        assert "<html" in page and "base64" in page, name
    page = viz.trace_plot(data, plot_segments=True)
    assert "Active Cached" in page
    print(f"{len(data['segments'])} segments, {total} bytes, {used} used, {entries} entries")


def places(snapshot):
    segments, blocks = collections.Counter(), collections.Counter()
    for segment in snapshot["segments"]:
        segments[segment["address"], segment["total_size"]] += 1
        at = segment["address"]
        for block in segment["blocks"]:
            if block["state"] == "active_allocated":
                blocks[at, block["size"]] += 1
            at += block["size"]
    return segments, blocks


def same(own, ours):
    wrong = 0
    for what, (a, b) in zip(("segments", "blocks"), zip(places(load(own)), places(load(ours)))):
        print(f"{what}: PyTorch has {sum(a.values())}, we have {sum(b.values())}")
        for only, place in [("only PyTorch", p) for p in a - b] + [("only we", p) for p in b - a]:
            print(f"  {only}: {place[1]} bytes at {place[0]:#x}")
            wrong = 1
    assert sum(places(load(own))[1].values()) > 10, "the program holds too little to tell anything"
    return wrong


if __name__ == "__main__":
    sys.exit({"program": program, "read": read, "same": same}[sys.argv[1]](*sys.argv[2:]))
