"""What scripts/memtrace_pools.py and its test need of JAX, over the simulated CUDA.

As in JAX 0.11: its allocator (BFC) takes one large piece before the first array, or grows, and rounds to
256 bytes; XLA_PYTHON_CLIENT_ALLOCATOR chooses others. Arrays are listed by live_arrays(), whose shards
lie on one device each.
"""
import ctypes
import os
import types
import weakref

UNIT = 256
runtime = ctypes.CDLL("libcudart.so.13")
kind = os.environ.get("XLA_PYTHON_CLIENT_ALLOCATOR", "default")
arrays = weakref.WeakSet()


def cuda(size, call=runtime.cudaMalloc, *more):
    address = ctypes.c_void_p()
    assert call(ctypes.byref(address), ctypes.c_size_t(size), *more) == 0
    return address.value


class Pool:
    def __init__(self):
        self.free, self.size, self.used, self.most = [], 0, 0, 0
        if os.environ.get("XLA_PYTHON_CLIENT_PREALLOCATE") != "false":
            self.grow(128 << 20)

    def grow(self, size):
        self.free.append((cuda(size), size))
        self.size += size

    def take(self, size):
        if all(room < size for _, room in self.free):
            self.grow(max(size, 2 << 20))
        address, room = next(row for row in self.free if row[1] >= size)
        self.free.remove((address, room))
        if room > size:
            self.free.append((address + size, room - size))
        self.used += size
        self.most = max(self.used, self.most)
        return address

    def give(self, address, size):
        self.free.append((address, size))
        self.used -= size


pool = Pool() if kind == "default" else None


class Device:
    id, platform = 0, "gpu"

    def memory_stats(self):
        return pool and {"bytes_in_use": pool.used, "peak_bytes_in_use": pool.most, "pool_bytes": pool.size}


class Array:
    def __init__(self, count):
        self.nbytes = 4 * count
        self.size = -(-self.nbytes // UNIT) * UNIT if pool else self.nbytes
        if pool:
            self.address, end = pool.take(self.size), lambda address, size=self.size: pool.give(address, size)
        elif kind == "platform":
            self.address, end = cuda(self.size), lambda address: runtime.cudaFree(ctypes.c_void_p(address))
        else:
            self.address = cuda(self.size, runtime.cudaMallocAsync, None)
            end = lambda address: runtime.cudaFreeAsync(ctypes.c_void_p(address), None)
        weakref.finalize(self, end, self.address).atexit = False
        self.device = devices[0]
        self.addressable_shards = [types.SimpleNamespace(device=self.device, data=weakref.proxy(self))]
        arrays.add(self)

    def unsafe_buffer_pointer(self):
        return self.address

    def is_deleted(self):
        return False

    def block_until_ready(self):
        return self

    def __mul__(self, number):
        return Array(self.nbytes // 4)

    def __getitem__(self, index):
        return 2.0


devices = [Device()]


def local_devices():
    return devices


def live_arrays():
    return list(arrays)


def jit(function):
    return function
