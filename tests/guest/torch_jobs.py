"""What training jobs do to a process, with tensors on the GPU if there is one:

    torch_jobs.py loaders TIMES WORKERS   DataLoaders whose workers come by fork, beside three threads
                                          that allocate; one that does not answer in time is a hang
    torch_jobs.py starts WAY              two children by spawn or forkserver, which allocate
    torch_jobs.py signals TIMES           SIGUSR1, SIGUSR2, SIGINT and SIGTERM in handlers of Python's
                                          while it trains
    torch_jobs.py watchdog                a thread that calls os._exit(7) in the middle of a step

Prints what was done and ends with 7.
"""
import os
import signal
import sys
import threading
import time

import torch
import torch.multiprocessing as multiprocessing
from torch.utils.data import DataLoader, Dataset

WELL = 7
PATIENCE = 60
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Rows(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, row):
        return torch.full((8,), float(row))


def allocate(stop):
    kept = []
    while not stop.is_set():
        kept.append(torch.zeros(256, 64, device=DEVICE).add(1))
        if len(kept) > 8:
            kept.clear()


def beside_threads(work):
    # What is done for the first time registers destructors: a fork in the middle of that hangs by itself.
    torch.zeros(256, 64, device=DEVICE).add(1)
    sum(len(batch) for batch in DataLoader(Rows(), batch_size=4, shuffle=True))
    torch.Generator()
    stop = threading.Event()
    threads = [threading.Thread(target=allocate, args=(stop,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        return work()
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def loaders(times, workers):
    def work():
        rows = 0
        for _ in range(times):
            loader = DataLoader(Rows(), batch_size=4, num_workers=workers, timeout=PATIENCE,
                                multiprocessing_context="fork")
            rows += sum(len(batch) for batch in loader)
        return rows

    print("rows", beside_threads(work))


def child(number):
    torch.set_num_threads(1)
    for size in range(1, 200):
        torch.zeros(size, 64, device=DEVICE)
    sys.exit(number)


def starts(way):
    context = multiprocessing.get_context(way)
    children = [context.Process(target=child, args=(number,)) for number in (3, 4)]

    def work():
        for process in children:
            process.start()
        for process in children:
            process.join(PATIENCE)
        return [process.exitcode for process in children]

    print(way, beside_threads(work))


def train(model, optimizer):
    optimizer.zero_grad()
    model(torch.randn(32, 64, device=DEVICE)).pow(2).mean().backward()
    optimizer.step()


def job():
    model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.Linear(256, 64)).to(DEVICE)
    return model, torch.optim.AdamW(model.parameters())


def signals(times):
    kinds = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGINT, signal.SIGTERM)
    handled = dict.fromkeys(kinds, 0)

    def handle(number, _frame):
        handled[number] += 1
        torch.zeros(16, 16, device=DEVICE)

    for kind in kinds:
        signal.signal(kind, handle)
    over = threading.Event()

    def send():
        for i in range(times):
            os.kill(os.getpid(), kinds[i % len(kinds)])
            time.sleep(0.0005)
        over.set()

    model, optimizer = job()
    sender = threading.Thread(target=send)
    sender.start()
    while not over.is_set():
        train(model, optimizer)
    sender.join()
    print("signals", all(handled.values()))


def watchdog():
    def bark():
        time.sleep(0.5)
        os._exit(WELL)

    model, optimizer = job()
    threading.Thread(target=bark, daemon=True).start()
    while True:
        train(model, optimizer)


if __name__ == "__main__":
    torch.set_num_threads(1)
    what, *words = sys.argv[1:]
    globals()[what](*(int(word) if word.isdigit() else word for word in words))
    sys.stdout.flush()
    sys.exit(WELL)
