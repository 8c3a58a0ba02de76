"""A forward and a backward pass of the small model in libtorch_cpu.c: backward.py FOLDER.

Prints "SIZE VIA LINE" of each block that the backward pass makes.
"""
import ctypes
import sys
import threading

folder = sys.argv[1]
c10 = ctypes.CDLL(folder + "/libc10.so")
cuda = ctypes.CDLL(folder + "/libc10_cuda.so", ctypes.RTLD_GLOBAL)
torch = ctypes.CDLL(folder + "/libtorch_cpu.so", ctypes.RTLD_GLOBAL)
python = ctypes.CDLL(folder + "/libtorch_python.so")
mm = torch._ZN2at4_ops2mm4callERKNS_6TensorES4_


def here():
    return sys._getframe(1).f_lineno


def expect(size, via, line):
    print(size + 1, via, line)


def step(base):
    torch.parameter(ctypes.c_int64(base))
    mm(ctypes.c_int64(base + 1000)), expect(base + 1000, "forward", here())
    torch.view(ctypes.c_int64(base + 2000))
    torch.empty(ctypes.c_int64(base + 3000))  # takes the view's number
    mm(ctypes.c_int64(base + 4000)), expect(base + 4000, "forward", here())
    torch.view(ctypes.c_int64(base + 5000))
    line = here() + 1
    whole = python.run_backward()
    assert whole, "the arguments or the result of a backward pass were changed"
    for size in (0, 2000, 5000):
        expect(base + size, "backward", line)


torch.empty(ctypes.c_int64(1 << 16))
for i in range(3):
    step(100000 * (i + 1))
thread = threading.Thread(target=step, args=(900000,))
thread.start()
thread.join()
assert torch.owners() == 0, "a node has an owner too many or too few"
assert c10.reports() > 0, "no report was passed on"
