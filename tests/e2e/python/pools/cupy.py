"""What scripts/memtrace_pools.py needs of CuPy, over the simulated CUDA.

As in CuPy 14 (cupy/cuda/memory.pyx, memory_hook.pyx): hooks are of one thread and are called by name
with keywords; blocks are rounded to 512 bytes, best fit, split, merged; what is given back by
free_all_blocks() are segments that are whole.
"""
import ctypes
import threading
import types

UNIT = 512
uint8 = "uint8"
runtime = ctypes.CDLL("libcudart.so.13")
threads = threading.local()


class Memory:
    call = runtime.cudaMalloc
    more = ()

    def __init__(self, size):
        address = ctypes.c_void_p()
        if size and self.call(ctypes.byref(address), ctypes.c_size_t(size), *self.more):
            raise MemoryError
        self.ptr, self.size, self.device_id = address.value or 0, size, 0

    def __del__(self, free=runtime.cudaFree, pointer=ctypes.c_void_p):
        free(pointer(self.ptr))


class ManagedMemory(Memory):
    call = runtime.cudaMallocManaged
    more = (1,)


class UnownedMemory:
    def __init__(self, ptr, size, owner, device_id=-1):
        self.ptr, self.size, self._owner, self.device_id = ptr, size, owner, device_id


class MemoryPointer:
    def __init__(self, mem, offset):
        self.mem, self.ptr, self.device_id = mem, mem.ptr + offset, mem.device_id


class MemoryHook:
    name = "MemoryHook"

    def __enter__(self):
        hooks = threads.__dict__.setdefault("hooks", {})
        if self.name in hooks:
            raise KeyError(f"memory hook {self.name} already exists")
        hooks[self.name] = self

    def __exit__(self, *_):
        del threads.hooks[self.name]

    def nothing(self, **facts):
        pass

    alloc_preprocess = alloc_postprocess = malloc_preprocess = malloc_postprocess = nothing
    free_preprocess = free_postprocess = nothing


def tell(what, **facts):
    for hook in list(threads.__dict__.get("hooks", {}).values()):
        getattr(hook, what)(**facts)


class PooledMemory:
    def __init__(self, pool, segment, offset, size):
        self.pool, self.segment, self.offset, self.size = pool, segment, offset, size
        self.ptr, self.device_id = segment.ptr + offset, 0

    def __del__(self):
        self.pool.give(self.segment, self.offset, self.size)


class MemoryPool:
    def __init__(self, allocator=None):
        self.allocator = allocator or (lambda size: MemoryPointer(Memory(size), 0))
        self.lock = threading.RLock()
        self.free = {}  # segment: {offset: size}
        self.used = 0

    def malloc(self, size):
        rounded = -(-size // UNIT) * UNIT
        facts = {"device_id": 0, "size": size, "mem_size": rounded}
        tell("malloc_preprocess", **facts)
        pointer = self.take(rounded) if rounded else MemoryPointer(Memory(0), 0)
        tell("malloc_postprocess", mem_ptr=pointer.ptr, pmem_id=id(pointer.mem), **facts)
        return pointer

    def take(self, size):
        with self.lock:
            fits = [(room, segment.ptr, offset, segment) for segment, rooms in self.free.items()
                    for offset, room in rooms.items() if room >= size]
            if not fits:
                tell("alloc_preprocess", device_id=0, mem_size=size)
                segment = self.allocator(size).mem
                tell("alloc_postprocess", device_id=0, mem_size=size, mem_ptr=segment.ptr)
                self.free[segment] = {0: size}
                fits = [(size, segment.ptr, 0, segment)]
            room, _, offset, segment = min(fits)
            del self.free[segment][offset]
            if room > size:
                self.free[segment][offset + size] = room - size
            self.used += size
            return MemoryPointer(PooledMemory(self, segment, offset, size), 0)

    def give(self, segment, offset, size):
        with self.lock:
            self.used -= size
            rooms = self.free[segment]
            size += rooms.pop(offset + size, 0)
            for start, room in list(rooms.items()):
                if start + room == offset:
                    offset, size = start, size + rooms.pop(start)
            rooms[offset] = size

    def free_all_blocks(self):
        with self.lock:
            for segment in [s for s, rooms in self.free.items() if rooms == {0: s.size}]:
                del self.free[segment]

    def used_bytes(self):
        return self.used

    def total_bytes(self):
        return sum(segment.size for segment in self.free)


default = MemoryPool()
current = [default.malloc]


def get_default_memory_pool():
    return default


class Array:
    def __init__(self, size):
        self.data = current[0](size)


def empty(shape, dtype):
    assert dtype is uint8
    return Array(shape)


cuda = types.SimpleNamespace(
    MemoryHook=MemoryHook, MemoryPool=MemoryPool, MemoryPointer=MemoryPointer, UnownedMemory=UnownedMemory,
    malloc_managed=lambda size: MemoryPointer(ManagedMemory(size), 0),
    set_allocator=lambda allocator: current.__setitem__(0, allocator))
