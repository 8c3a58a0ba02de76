"""What scripts/memtrace_pools.py and its test need of RMM, over the simulated CUDA.

As RMM 25.12 does it (cpp/include/rmm/mr): what rmm_pool of tests/gpu/pools.py asks gets the same blocks from
both. A pool rounds to 256 bytes, gives the best fit, joins what lies side by side, and takes as much as
it has, or half of what it may still take; callbacks get a stream. All of it is on one stream.
"""
import collections
import ctypes
import threading
import types

UNIT = 256
STREAM = object()
runtime = ctypes.CDLL("libcudart.so.13")


def rounded(size):
    return -(-size // UNIT) * UNIT


class CudaMemoryResource:
    def allocate(self, nbytes, stream=STREAM):
        address = ctypes.c_void_p()
        if runtime.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(nbytes)):
            raise MemoryError(f"std::bad_alloc: out_of_memory: {nbytes}")
        return address.value

    def deallocate(self, ptr, nbytes, stream=STREAM):
        assert runtime.cudaFree(ctypes.c_void_p(ptr)) == 0


class CallbackMemoryResource:
    def __init__(self, allocate_func, deallocate_func):
        self.allocate = lambda nbytes, stream=STREAM: allocate_func(nbytes, stream)
        self.deallocate = lambda ptr, nbytes, stream=STREAM: deallocate_func(ptr, nbytes, stream)


class PoolMemoryResource:
    def __init__(self, upstream_mr, initial_pool_size, maximum_pool_size=None):
        self.upstream, self.most, self.size = upstream_mr, maximum_pool_size, 0
        self.heads, self.free = set(), {}  # address: bytes; what begins at a head joins nothing before it
        self.lock = threading.RLock()
        # RMM's lock is held while it asks: Python below would let the collector in, and RMM wait for itself.
        below = upstream_mr
        while below:
            assert not isinstance(below, CallbackMemoryResource), "Python below a pool"
            below = getattr(below, "upstream", None)
        self.expand(initial_pool_size, initial_pool_size)

    def expand(self, size, least):
        while size >= least:
            try:
                address = self.upstream.allocate(size, STREAM)
            except MemoryError:
                if size == least:
                    break
                size = max(least, size // 2)
                continue
            self.heads.add(address)
            self.free[address] = size
            self.size += size
            return
        raise MemoryError("std::bad_alloc: out_of_memory: RMM failure: Maximum pool size exceeded")

    def growth(self, size):
        if self.most is None:
            return max(size, self.size)
        left = rounded(self.most - self.size)
        return max(size, left // 2) if size <= left else 0

    def allocate(self, nbytes, stream=STREAM):
        if not nbytes:
            return 0
        size = rounded(nbytes)
        with self.lock:
            if all(room < size for room in self.free.values()):
                self.expand(self.growth(size), size)
            address = min((room, at) for at, room in self.free.items() if room >= size)[1]
            room = self.free.pop(address)
            if room > size:
                self.free[address + size] = room - size
            return address

    def deallocate(self, ptr, nbytes, stream=STREAM):
        if not nbytes or not ptr:
            return
        with self.lock:
            size = rounded(nbytes)
            if ptr + size in self.free and ptr + size not in self.heads:
                size += self.free.pop(ptr + size)
            before = max((at for at in self.free if at < ptr), default=None)
            if before is not None and before + self.free[before] == ptr and ptr not in self.heads:
                ptr, size = before, size + self.free[before]
            self.free[ptr] = size

    def pool_size(self):
        return self.size


Statistics = collections.namedtuple("Statistics", "current_bytes")


class StatisticsResourceAdaptor:
    def __init__(self, upstream_mr):
        self.upstream, self.bytes = upstream_mr, 0

    def allocate(self, nbytes, stream=STREAM):
        address = self.upstream.allocate(nbytes, stream)
        self.bytes += nbytes
        return address

    def deallocate(self, ptr, nbytes, stream=STREAM):
        self.upstream.deallocate(ptr, nbytes, stream)
        self.bytes -= nbytes

    @property
    def allocation_counts(self):
        return Statistics(self.bytes)


current = [CudaMemoryResource()]


class DeviceBuffer:
    ptr = 0

    def __init__(self, *, size):
        self.resource, self.size = current[-1], size
        if size:
            self.ptr = self.resource.allocate(size, STREAM)

    def __del__(self):
        if self.ptr:
            self.resource.deallocate(self.ptr, self.size, STREAM)


mr = types.SimpleNamespace(
    CudaMemoryResource=CudaMemoryResource, CallbackMemoryResource=CallbackMemoryResource,
    PoolMemoryResource=PoolMemoryResource, StatisticsResourceAdaptor=StatisticsResourceAdaptor,
    set_current_device_resource=current.append, get_current_device_resource=lambda: current[-1])
