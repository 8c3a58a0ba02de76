"""What is measured, one row each: the list behind `make bench`, bench-gpu.sh and the table in README.

A row with a budget (the design's: "most", or "least" where more is better) is within it or over it by the median.
"""
from typing import NamedTuple, Optional


class Row(NamedTuple):
    id: str
    what: str
    unit: str  # "x" for a ratio
    most: Optional[float] = None
    least: Optional[float] = None
    readme: bool = False  # also in README's table


ROWS = (
    # --- anywhere, on the simulated CUDA: tests/bench/cpu.py ---
    Row("event.driver.none", "added to cudaMalloc and to cudaFree, no stacks", "ns"),
    Row("event.driver.native", "added to cudaMalloc and to cudaFree, 30 native frames", "ns"),
    Row("told.driver", "what the trace says that costs, to the measured", "x", least=0.8, most=1.2),
    Row("event.block.none", "added to a block event of a pool, no stacks", "ns"),
    Row("event.block.native", "added to a block event of a pool, 30 native frames", "ns"),
    Row("told.block", "what the trace says that costs, to the measured", "x", least=0.8, most=1.2),
    Row("event.cpu.none", "added to a CPU tensor's event of PyTorch, no stacks", "ns", readme=True),
    Row("event.cpu.all", "the same, Python and native stacks, 20 Python frames", "ns", most=200, readme=True),
    Row("off", "added to a hooked call while switched off", "ns", most=5, readme=True),
    Row("instructions.off", "instructions of a driver event while off (baseline)", "instructions"),
    Row("instructions.none", "instructions of a driver event, no stacks (baseline)", "instructions"),
    Row("instructions.native", "instructions of a driver event, native stacks (baseline)", "instructions"),
    Row("range.ns", "a range: push, pop and its lines of JSON", "ns"),
    Row("range.bytes", "memory of a range while JSON is written", "bytes"),
    Row("start.ls", "start and end of ls, CPU time", "x", most=1.05, readme=True),
    Row("start.ls.empty", "the same with an empty library", "x", readme=True),
    Row("start.sh", "start and end of sh -c :", "x", most=1.05, readme=True),
    Row("start.sh.empty", "the same with an empty library", "x", readme=True),
    Row("start.python", "start and end of python3 -c pass", "x", most=1.05, readme=True),
    Row("start.python.empty", "the same with an empty library", "x", readme=True),
    Row("start.cc", "start and end of cc -c of a small file", "x", most=1.05, readme=True),
    Row("start.cc.empty", "the same with an empty library", "x", readme=True),
    Row("start.true", "start and end of /bin/true", "x"),
    Row("start.true.empty", "the same with an empty library", "x"),
    Row("start.subshells", "100 subshells of sh", "x"),
    Row("start.subshells.empty", "the same with an empty library", "x"),
    Row("spool.event", "spool, bytes an event", "bytes", most=16, readme=True),
    Row("memory.stacks", "memory of the recorder at 100,000 distinct stacks", "MiB", most=64, readme=True),
    Row("json", "JSON of 1,000,000 events, CPU time", "s", most=1.5, readme=True),
    Row("report.million", "report of 1,000,000 events, CPU time", "s"),
    Row("page.make", "page of 1,000,000 events, made", "s"),
    Row("page.size", "its size", "MB", most=40),
    Row("page.open.flame", "opened in Chromium with its flame graph", "ms", most=5000),
    Row("page.zoom.flame", "slowest frame of a zoom there", "ms", most=100),
    Row("page.open.map", "opened in Chromium with its map", "ms", most=5000),
    Row("page.zoom.map", "slowest frame of a zoom there", "ms", most=100),
    Row("page.big.make", "page of 10,000,000 events, made", "s"),
    Row("page.big.size", "its size", "MB", most=40),
    Row("page.big.open.flame", "opened in Chromium with its flame graph", "ms"),
    Row("page.big.zoom.flame", "slowest frame of a zoom there", "ms", most=100),
    Row("page.big.open.map", "opened in Chromium with its map", "ms"),
    Row("page.big.zoom.map", "slowest frame of a zoom there", "ms", most=100),
    Row("report", "report of 10,000,000 events, CPU time", "s", most=1, readme=True),
    Row("report.memory", "and memory (a figure up to 17 MiB may be the harness's)", "MiB", most=512, readme=True),
    Row("report.at", "report --at peak of 10,000,000 events, CPU time", "s", most=5, readme=True),
    Row("report.at.memory", "and memory", "MiB", most=512),
    Row("growth", "report --show growth of 10,000,000 events, CPU time", "s", most=5, readme=True),
    Row("growth.memory", "and memory", "MiB", most=512),
    Row("diff", "diff of two times 10,000,000 events, CPU time", "s", most=2, readme=True),
    Row("diff.memory", "and memory", "MiB", most=512),
    Row("check", "check of 10,000,000 events, CPU time", "s", most=2),
    Row("check.memory", "and memory", "MiB", most=512),
    Row("merge", "merge of 1,024 ranks, CPU time", "s", most=60, readme=True),
    Row("merge.memory", "and memory", "MiB", most=1024),
    Row("top", "a look of top at 100,000 stacks, CPU time", "ms"),
    Row("top.slower", "an event of a process that top looks at", "x", most=1.01),
    # --- on a GPU: tests/bench/gpu.py ---
    Row("gpu.event.none", "added to a block event of PyTorch, no stacks", "ns", readme=True),
    Row("gpu.event.native", "added to a block event of PyTorch, native stacks", "ns"),
    Row("gpu.event.python", "added to a block event of PyTorch, Python stacks", "ns"),
    Row("gpu.event.all", "added to a block event of PyTorch, both, 20 Python frames", "ns", most=200, readme=True),
    Row("gpu.recorder.none", "the same, PyTorch's recorder, context=None", "ns", readme=True),
    Row("gpu.recorder.python", "the same, PyTorch's recorder, stacks=python", "ns", readme=True),
    Row("gpu.recorder.all", "the same, PyTorch's recorder, stacks=all", "ns", readme=True),
    Row("gpu.recorder.ratio", "the recorder's cost with stacks=all, to memtrace's", "x", least=5, readme=True),
    Row("gpu.told", "the event's cost that the trace states, to the measured one", "x", most=1.2, least=0.8),
    Row("gpu.step.none", "eager transformer step, no stacks", "x"),
    Row("gpu.step.all", "eager transformer step of about 2,000 events", "x", most=1.02, readme=True),
    Row("gpu.step.recorder.none", "the same, PyTorch's recorder, context=None", "x"),
    Row("gpu.step.recorder.python", "the same, PyTorch's recorder, stacks=python", "x", readme=True),
    Row("gpu.step.recorder.all", "the same, PyTorch's recorder, stacks=all", "x", readme=True),
    Row("gpu.matmul", "matmul-bound step", "x", most=1.005, readme=True),
    Row("gpu.pairs", "cudaMalloc and cudaFree of 2 MiB", "x", most=1.02, readme=True),
    Row("gpu.pairs.added", "added to each of the two", "ns"),
    Row("gpu.small", "cudaMalloc and cudaFree of 4 KiB", "x"),
    Row("gpu.small.added", "added to each of the two", "ns"),
    Row("gpu.top", "eager transformer step while memtrace top looks at it", "x", most=1.01, readme=True),
)
