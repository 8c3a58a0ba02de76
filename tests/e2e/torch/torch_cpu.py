"""CPU tensors made in known places: prints "SIZE FILE LINE FUNCTION" for each, from Python's own view."""
import sys
import threading
import traceback

import torch


def tell(tensor):
    frame = traceback.extract_stack(limit=2)[0]
    code = sys._getframe(1).f_code
    name = getattr(code, "co_qualname", code.co_name)
    print(tensor.nelement() * 4, frame.filename, frame.lineno, name)
    return tensor


def plain():
    return tell(torch.empty(1001))


class Layer:
    def forward(self, size):
        return [tell(torch.empty(size + i)) for i in range(2)]


def generator():
    for i in range(2):
        yield tell(torch.empty(3001 + i))


def sort_key(size):
    tell(torch.empty(size))
    return size


keep = [plain(), Layer().forward(2001), list(generator()), sorted([4002, 4001], key=sort_key)]
keep.append((lambda: tell(torch.empty(5001)))())
exec(compile("def made(): return tell(torch.empty(6001))\nkeep.append(made())", "a file.py", "exec"))
thread = threading.Thread(target=lambda: keep.append(tell(torch.empty(7001))))
thread.start()
thread.join()
