#!/usr/bin/env python3
"""Categories against a truth summed from the tensors themselves.

categories.py run MODEL [options]     trains and marks "truth MOMENT BYTES ..." (of NAMES) in the trace
categories.py compare TRACE           what `memtrace report --at` says of each mark, within 1%
categories.py list                    the programs that are worth running, a line each

On CPU tensors (MEMTRACE_CPU=1, --device cpu) or on a card, whose blocks PyTorch rounds up to 512 bytes.
"""
import argparse
import ctypes
import json
import subprocess
import sys

PROGRAMS = """
gpt
gpt --optimizer sgd
gpt --optimizer adam-foreach
gpt --checkpoint
gpt --checkpoint --reentrant --optimizer sgd
gpt --accumulate 3
gpt --accumulate 2 --keep-gradients
gpt --amp
gpt --direct
conv
conv --optimizer sgd
conv --checkpoint
conv --checkpoint --reentrant --optimizer sgd
conv --accumulate 2 --keep-gradients
conv --amp --checkpoint
hand
hand --accumulate 2
"""


NAMES = "parameters", "gradients", "optimizer-state", "activations"


def models(torch):
    nn, F = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.heads = heads
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            batch, length, width = x.shape
            qkv = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, -1)
            q, k, v = qkv.permute(2, 0, 3, 1, 4)
            weights = (q @ k.transpose(-2, -1) * (width // self.heads) ** -0.5).softmax(-1)
            x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))
            return x + self.down(F.gelu(self.up(self.norm2(x))))

    class Residual(nn.Module):
        def __init__(self, channels):
            super().__init__()
            self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
            self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
            self.norm1, self.norm2 = nn.BatchNorm2d(channels), nn.BatchNorm2d(channels)

        def forward(self, x):
            y = F.relu(self.norm1(self.conv1(x)))
            return F.relu(x + self.norm2(self.conv2(y)))

    class Chain(nn.Module):
        """A first layer, blocks (each checkpointed or not), a last layer."""

        def __init__(self, first, blocks, last, options):
            super().__init__()
            self.first, self.blocks, self.last = first, nn.ModuleList(blocks), last
            self.options = options

        def forward(self, x):
            x = self.first(x)
            for block in self.blocks:
                if self.options.checkpoint:
                    x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=self.options.reentrant)
                else:
                    x = block(x)
                if x.requires_grad:
                    x.register_hook(lambda gradient: tell("middle"))
            return self.last(x)

    class Head(nn.Module):
        def __init__(self, channels, classes):
            super().__init__()
            self.line = nn.Linear(channels, classes)

        def forward(self, x):
            return self.line(x.mean((2, 3)))

    def gpt(options):
        width, vocabulary, length, batch = 192, 1024, 64, 8
        model = Chain(nn.Embedding(vocabulary, width), [Block(width, 4) for _ in range(3)],
                      nn.Linear(width, vocabulary, bias=False), options)
        return model, lambda: (torch.randint(vocabulary, (batch, length)), torch.randint(vocabulary, (batch, length)))

    def conv(options):
        channels, classes = 48, 10
        first = nn.Conv2d(3, channels, 3, padding=1)
        model = Chain(first, [Residual(channels) for _ in range(4)], Head(channels, classes), options)
        return model, lambda: (torch.randn(8, 3, 32, 32), torch.randint(classes, (8,)))

    class Hand:
        """No module at all: weights made by hand, as tutorials do."""

        def __init__(self, device):
            self.weights = [(torch.randn(256, 384) * 0.05).to(device).requires_grad_(),
                            torch.randn(384, 128, device=device, requires_grad=True)]

        def parameters(self):
            return self.weights

        def buffers(self):
            return []

        def __call__(self, x):
            a, b = self.weights
            return torch.relu(x @ a) @ b

    def hand(options):
        return Hand(options.device), lambda: (torch.randn(320, 256), torch.randint(128, (320,)))

    return {"gpt": gpt, "conv": conv, "hand": hand}


TELL = []


def tell(moment):
    for function in TELL:
        function(moment)


class Truth:
    """What the tensors on the device sum to, as a mark in the trace."""

    def __init__(self, torch, model, optimizer, device):
        self.torch, self.model, self.optimizer, self.device = torch, model, optimizer, device
        self.mark = getattr(ctypes.CDLL(None), "memtrace_mark", lambda text: None)
        self.saved = {}
        TELL.append(self.now)

    def sum(self, tensors):
        seen = {}
        for tensor in tensors:
            if tensor is not None and tensor.device.type == self.device:
                size = tensor.storage().nbytes()
                seen[tensor.data_ptr()] = (size + 511) // 512 * 512 if self.device == "cuda" else size
        return sum(seen.values())

    def now(self, moment):
        state = [t for s in self.optimizer.state.values() for t in s.values() if self.torch.is_tensor(t)]
        parameters = list(self.model.parameters())
        text = "truth %s %d %d %d" % (
            moment, self.sum(parameters + list(self.model.buffers())), self.sum([p.grad for p in parameters]),
            self.sum(state))
        if self.saved and moment == "forward":
            text += " %d" % sum(self.saved.values())
        self.mark(text.encode())

    def keep(self, tensor):
        """A tensor that autograd keeps for backward: an activation unless it is a weight or data."""
        own = {p.data_ptr() for p in list(self.model.parameters()) + list(self.model.buffers())}
        size = self.sum([tensor])
        if size and tensor.storage().data_ptr() not in own | self.data:
            self.saved[tensor.storage().data_ptr()] = size
        return tensor


def optimizer_of(torch, options, parameters):
    if options.optimizer == "sgd":
        return torch.optim.SGD(parameters, lr=1e-3, momentum=0.9)
    if options.optimizer == "adam-foreach":
        return torch.optim.AdamW(parameters, lr=1e-4, foreach=True)
    return torch.optim.AdamW(parameters, lr=1e-4)


def train(torch, options):
    build, F = models(torch)[options.model], torch.nn.functional
    if options.direct:
        with torch.device(options.device):
            model, batch = build(options)
    else:
        model, batch = build(options)
        if options.model != "hand":
            model = model.to(options.device)
    optimizer = optimizer_of(torch, options, model.parameters())
    amp = options.amp and (options.device == "cuda" or hasattr(torch, "autocast"))
    scaler = torch.cuda.amp.GradScaler(enabled=amp and options.device == "cuda")
    truth = Truth(torch, model, optimizer, options.device)
    for step in range(options.steps):
        for _ in range(options.accumulate):
            x, y = (t.to(options.device) for t in batch())
            truth.saved, truth.data = {}, {x.data_ptr(), y.data_ptr()}
            hooks = torch.autograd.graph.saved_tensors_hooks(truth.keep, lambda tensor: tensor)
            with torch.autocast(options.device, torch.bfloat16, enabled=bool(amp)):
                if options.eager and step == 1:  # elsewhere its copies of what it packs would show
                    with hooks:
                        loss = F.cross_entropy(model(x).flatten(0, -2), y.flatten())
                else:
                    loss = F.cross_entropy(model(x).flatten(0, -2), y.flatten())
            truth.now("forward")
            scaler.scale(loss).backward()
            truth.now("backward")
        scaler.step(optimizer)
        scaler.update()
        truth.now("step")
        optimizer.zero_grad(set_to_none=not options.keep_gradients)
        truth.now("zero_grad")
    return loss.item()


# --- the other side ---


def said(trace, at, place):
    text = subprocess.run(["memtrace", "report", "--json", "--show", "moment", *place, "--at", at, trace],
                          check=True, capture_output=True, text=True).stdout
    live = json.loads(text)["moment"]["live"]
    assert sum(row["bytes"] for row in live["categories"]) == live["bytes"]
    return {row["category"]: row["bytes"] for row in live["categories"]}


def differs(name, wanted, found, whole):
    """Within 1%, of what there is of it; or within a thousandth of all."""
    if name == "activations":  # what else is alive then is the results that nobody saved
        return not wanted * 0.99 <= found <= wanted * 1.15 + whole / 100
    return abs(found - wanted) > max(wanted * 0.01, whole / 1000)


def words(mark):
    _, moment, *values = mark["name"].split()
    return moment, dict(zip(NAMES, map(int, values)))


def compare(path):
    trace = json.load(open(path))
    marks = [e for e in trace["events"] if e["op"] == "mark" and e["name"].startswith("truth ")]
    card = trace["summary"]["devices"]
    place = ["--pool", "torch"] if card else ["--space", "cpu"]
    wrong = 0
    for mark in marks:
        moment, truth = words(mark)
        found = said(path, "seq:%d" % mark["seq"], place)
        whole = sum(found.values())
        for name, value in truth.items():
            if differs(name, value, found.get(name, 0), whole):
                wrong += 1
                print("seq %d, %s: %s are %d, not %d of %d" % (mark["seq"], moment, name, value, found.get(name, 0), whole))
    wrong += compare_peak(path, marks, card)
    print("%d marks, %d wrong" % (len(marks), wrong))
    return 1 if wrong or not marks else 0


def compare_peak(path, marks, card):
    """The peak lies between two marks: what it says lies between what those say."""
    text = subprocess.run(["memtrace", "report", "--json", path], check=True, capture_output=True, text=True).stdout
    place = next(p for p in json.loads(text)["categories"] if (p["pool"] == "torch" if card else p["space"] == "cpu"))
    found = {row["category"]: row["peak_bytes"] for row in place["categories"]}
    whole = place["peak_bytes"]
    before = [m for m in marks if m["t"] <= place["peak_t"]]
    after = [m for m in marks if m["t"] >= place["peak_t"]]
    wrong = 0
    if sum(found.values()) != whole or place["peak_from"] != "blocks":
        wrong += 1
        print("the categories of the peak sum to %d, not %d" % (sum(found.values()), whole))
    if not before or not after:
        print("the peak lies outside of all marks")
        return wrong + 1
    low, high = words(before[-1])[1], words(after[0])[1]
    for name in ("parameters", "gradients", "optimizer-state"):
        least, most = sorted((low[name], high[name]))
        value = min(max(found.get(name, 0), least), most)
        if differs(name, value, found.get(name, 0), whole):
            wrong += 1
            print("the peak: %s are from %d to %d, not %d" % (name, least, most, found.get(name, 0)))
    if found.get("other", 0) > whole / 20:
        wrong += 1
        print("the peak: %d of %d are other" % (found["other"], whole))
    print("the peak of %d:" % whole, ", ".join("%s %d" % pair for pair in sorted(found.items(), key=lambda p: -p[1])))
    return wrong


def main():
    if sys.argv[1:] == ["list"]:
        print(PROGRAMS.strip())
        return 0
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verb", choices=["run", "compare"])
    parser.add_argument("model")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--optimizer", default="adamw")
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--accumulate", type=int, default=1)
    for flag in ("checkpoint", "reentrant", "keep-gradients", "amp", "direct"):
        parser.add_argument("--" + flag, action="store_true")
    options = parser.parse_args()
    if options.verb == "compare":
        return compare(options.model)
    import torch
    import torch.utils.checkpoint

    options.eager = not options.checkpoint and not options.amp
    torch.manual_seed(0)
    print("loss %.4f" % train(torch, options))
    return 0


if __name__ == "__main__":
    sys.exit(main())
