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
)
