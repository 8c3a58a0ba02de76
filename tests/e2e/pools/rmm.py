"""What scripts/memtrace_pools.py and its test need of RMM, over the simulated CUDA.

As in RMM 25 (rmm/pylibrmm/memory_resource): allocate(size, stream) gives an address; a pool begins with
its first size, rounds to 256 bytes and takes more from what it was given; callbacks get a stream.
"""
import collections
import ctypes
import types

UNIT = 256
STREAM = object()
runtime = ctypes.CDLL("libcudart.so.13")


class CudaMemoryResource:
    def allocate(self, nbytes, stream=STREAM):
        address = ctypes.c_void_p()
        assert runtime.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(nbytes)) == 0
        return address.value

    def deallocate(self, ptr, nbytes, stream=STREAM):
        assert runtime.cudaFree(ctypes.c_void_p(ptr)) == 0


class CallbackMemoryResource:
    def __init__(self, allocate_func, deallocate_func):
        self.allocate = lambda nbytes, stream=STREAM: allocate_func(nbytes, stream)
        self.deallocate = lambda ptr, nbytes, stream=STREAM: deallocate_func(ptr, nbytes, stream)


class PoolMemoryResource:
    """First fit, which never joins what was split."""

    def __init__(self, upstream_mr, initial_pool_size):
        self.upstream, self.size, self.free = upstream_mr, 0, []
        self.grow(initial_pool_size)

    def grow(self, size):
        self.free.append((self.upstream.allocate(size), size))
        self.size += size

    def allocate(self, nbytes, stream=STREAM):
        size = -(-nbytes // UNIT) * UNIT
        if all(room < size for _, room in self.free):
            self.grow(size)
        address, room = next(row for row in self.free if row[1] >= size)
        self.free.remove((address, room))
        if room > size:
            self.free.append((address + size, room - size))
        return address

    def deallocate(self, ptr, nbytes, stream=STREAM):
        self.free.append((ptr, -(-nbytes // UNIT) * UNIT))

    def pool_size(self):
        return self.size


Counts = collections.namedtuple("Counts", "current_bytes")


class StatisticsResourceAdaptor:
    def __init__(self, upstream_mr):
        self.upstream, self.bytes = upstream_mr, 0

    def allocate(self, nbytes, stream=STREAM):
        self.bytes += nbytes
        return self.upstream.allocate(nbytes, stream)

    def deallocate(self, ptr, nbytes, stream=STREAM):
        self.bytes -= nbytes
        self.upstream.deallocate(ptr, nbytes, stream)

    @property
    def allocation_counts(self):
        return Counts(self.bytes)


current = []


class DeviceBuffer:
    def __init__(self, size):
        self.resource, self.size = current[0], size
        self.ptr = self.resource.allocate(size, STREAM)

    def __del__(self):
        self.resource.deallocate(self.ptr, self.size, STREAM)


mr = types.SimpleNamespace(
    CudaMemoryResource=CudaMemoryResource, CallbackMemoryResource=CallbackMemoryResource,
    PoolMemoryResource=PoolMemoryResource, StatisticsResourceAdaptor=StatisticsResourceAdaptor,
    set_current_device_resource=current.append)
