"""Other libraries' pools: CuPy's, RMM's and JAX's, told to memtrace.

A pool takes large pieces from CUDA and hands out blocks of them; memtrace sees the pieces by itself,
and the blocks where the pool tells of them. PyTorch's does; for others

    import memtrace_pools

    memtrace_pools.trace_cupy()                        # before the first array
    memtrace_pools.trace_rmm(lambda upstream: rmm.mr.PoolMemoryResource(upstream, 2**30))
    memtrace_pools.look_at_jax()                       # after each step

One file, nothing to install: put it where Python finds it (PYTHONPATH, or beside the program). In a
process without memtrace each of them does nothing that matters: it can stay in the program.

What needs none of this: CuPy's and RMM's stream-ordered pools (MemoryAsyncPool, CudaAsyncMemoryResource)
and JAX's with XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async, which are CUDA's own, pool `async:HANDLE`; and
allocators that ask CUDA for each block (XLA_PYTHON_CLIENT_ALLOCATOR=platform, cupy.cuda.set_allocator(None)).
PyTorch's CUDAPluggableAllocator calls C: samples/pluggable.c is one that tells memtrace.
"""
import ctypes
import os
import weakref

CALLS = {"reserve": [ctypes.c_size_t], "release": [], "alloc": [ctypes.c_size_t], "free": []}


class Pool:
    """A pool by name. Addresses and sizes as in memtrace.h; `traced` says whether anybody listens.

    Blocks end while Python ends, when modules are empty already: all that a call needs is kept here.
    """

    def __init__(self, name):
        # Not CDLL, which lets other threads run before the call: what is reported here is true now.
        library = ctypes.PyDLL(None)
        self.traced = hasattr(library, "memtrace_pool_grow")
        if not self.traced:
            return
        library.memtrace_pool_create.restype = ctypes.c_uint32
        self.id = library.memtrace_pool_create(name.encode())
        self.calls = {}
        for call, size in CALLS.items():
            self.calls[call] = library[f"memtrace_pool_{call}"]
            self.calls[call].restype = None
            self.calls[call].argtypes = [ctypes.c_uint32, ctypes.c_void_p, *size]
        self.grow = library["memtrace_pool_grow"]
        self.grow.restype, self.grow.argtypes = ctypes.c_uint32, [ctypes.c_uint32]
        self.note = library["memtrace_mark"]
        self.note.restype = None
        self.note.argtypes = [ctypes.c_char_p]

    def growing(self, call, *arguments):
        """What this thread takes from CUDA in the call is the pool's from its first moment."""
        before = self.grow(self.id)
        try:
            return call(*arguments)
        finally:
            self.grow(before)

    def reserve(self, address, size):
        if self.traced and address and size:
            self.calls["reserve"](self.id, address, size)

    def release(self, address):
        if self.traced and address:
            self.calls["release"](self.id, address)

    def alloc(self, address, size):
        if self.traced and address and size:
            self.calls["alloc"](self.id, address, size)

    def free(self, address):
        if self.traced and address:
            self.calls["free"](self.id, address)

    def mark(self, text):
        if self.traced:
            self.note(text.encode())


# --- CuPy ------------------------------------------------------------------------------------------------


def trace_cupy(pool=None, name="cupy"):
    """Makes `pool` (a cupy.cuda.MemoryPool; None: the default one) CuPy's allocator, and told of.

    allocated is pool.used_bytes(), reserved pool.total_bytes(), in all threads; a block's size is what
    CuPy rounds it to (512 bytes). Blocks handed out before are not told. Gives the allocator, which
    cupy.cuda.using_allocator() takes as well. cupy.cuda.set_allocator(pool.malloc) ends it.
    """
    import cupy

    pool = pool or cupy.get_default_memory_pool()
    told = Pool(name)
    if told.traced:
        # What is left over from before: blocks of it would lie in memory that nobody reserved.
        pool.free_all_blocks()
    allocator = _cupy_allocator(cupy, pool, told) if told.traced else pool.malloc
    cupy.cuda.set_allocator(allocator)
    return allocator


def _cupy_allocator(cupy, pool, told):
    class Hook(cupy.cuda.MemoryHook):
        """CuPy's hooks are of one thread; this one is there while the pool is asked."""

        def __init__(self):
            self.name = f"memtrace {id(self)}"

        def alloc_postprocess(self, device_id, mem_size, mem_ptr):
            told.reserve(mem_ptr, mem_size)

        def malloc_postprocess(self, device_id, size, mem_size, mem_ptr, pmem_id):
            told.alloc(mem_ptr, mem_size)

    class Block:
        """Keeps CuPy's memory alive and tells its end, whichever thread that comes in."""

        def __init__(self, memory):
            self.memory = memory
            self.address = memory.ptr

        def __del__(self):
            told.free(self.address)

    def malloc(size):
        with Hook():
            pointer = told.growing(pool.malloc, size)
        memory = pointer.mem
        if not memory.ptr:
            return pointer
        owned = cupy.cuda.UnownedMemory(memory.ptr, memory.size, Block(memory), memory.device_id)
        return cupy.cuda.MemoryPointer(owned, 0)

    return malloc


# --- RMM -------------------------------------------------------------------------------------------------


def trace_rmm(make, upstream=None, name="rmm"):
    """A resource that hands out blocks of `make(upstream)` and tells of them.

        mr = trace_rmm(lambda upstream: rmm.mr.PoolMemoryResource(upstream, 2**30))
        rmm.mr.set_current_device_resource(mr)

    `make` makes the pool above `upstream` (None: cudaMalloc; it must take memory from CUDA itself, for
    what a CudaAsyncMemoryResource gives is a block of CUDA's pool already). Adaptors that count, limit
    or log go above the result or into `make`. A block's size is what was asked for, as RMM's own
    statistics have it. CuPy, PyTorch and Numba (with NUMBA_CUDA_USE_NVIDIA_BINDING=1) above RMM, by
    rmm.allocators, go through it, too. A block costs a few microseconds more than without memtrace.
    """
    import rmm

    told = Pool(name)
    upstream = upstream or rmm.mr.CudaMemoryResource()
    if not told.traced:
        return make(upstream)
    return _rmm_resource(rmm, told.growing(make, upstream), told, rmm_blocks)


rmm_blocks = {}  # what RMM calls for a block, by who told of it and where it lies
ctypes.pythonapi.Py_IncRef(ctypes.py_object(rmm_blocks))  # it outlives this module


def _rmm_resource(rmm, resource, told, blocks):
    # No Python below the pool, which asks for memory with its lock held: the garbage collector could
    # come in there and end a block of the same pool, which would wait for that lock for ever.
    def allocate(size, *stream):
        address = told.growing(resource.allocate, size, *stream)
        told.alloc(address, size)
        # The collector makes RMM's resource let go of both, though blocks that it found with it end later.
        blocks[told, address] = allocates(), deallocates()
        return address

    def deallocate(address, size, *stream):
        blocks.pop((told, address), None)
        told.free(address)
        resource.deallocate(address, size, *stream)

    # Weak, or each of them would keep itself, and the pool, until the collector comes.
    allocates, deallocates = weakref.ref(allocate), weakref.ref(deallocate)
    return rmm.mr.CallbackMemoryResource(allocate, deallocate)


# --- JAX -------------------------------------------------------------------------------------------------

JAX_UNIT = 256  # what its allocator rounds to
jax_looks = {}  # name: its pool, and what was there at the last look


def look_at_jax(name="jax"):
    """What JAX's arrays hold now, as blocks of the pool `name`.

    JAX's allocator (BFC) has no hook, so this is true when it is called, under the line that calls it:
    what lived only in between, and temporaries of a compiled function, are not there. What JAX itself
    says it has in use, and had at most, is written as a mark. With an allocator that asks CUDA each
    time (XLA_PYTHON_CLIENT_ALLOCATOR=platform or cuda_async) all is known without, and this does nothing.
    JAX's own picture of a moment, with the line that made each array, is
    jax.profiler.save_device_memory_profile(), in pprof's format.
    """
    import jax

    if os.environ.get("XLA_PYTHON_CLIENT_ALLOCATOR", "default").lower() not in ("", "default", "bfc"):
        return
    pool, before = jax_looks.setdefault(name, (Pool(name), {}))
    if not pool.traced:
        return
    now = _jax_buffers(jax)
    for address, (_, size) in list(before.items()):
        if address not in now or now[address][1] != size:
            pool.free(address)
            del before[address]
    for address, (_, size) in now.items():
        if address not in before:
            pool.alloc(address, size)
    before.update(now)
    for device in jax.local_devices():
        stats = device.memory_stats() if device.platform == "gpu" else None
        if stats:
            arrays = sum(size for on, size in now.values() if on == device.id)
            pool.mark(f"{name} {device.id}: {arrays} in arrays, {stats['bytes_in_use']} in use, "
                      f"{stats['peak_bytes_in_use']} at most")


def _jax_buffers(jax):
    """address: (device, bytes) of what arrays hold on GPUs; several may share one."""
    found = {}
    for array in jax.live_arrays():
        if array.is_deleted():
            continue
        for shard in array.addressable_shards:
            if shard.device.platform == "gpu" and shard.data.nbytes:
                size = -(-shard.data.nbytes // JAX_UNIT) * JAX_UNIT
                found[shard.data.unsafe_buffer_pointer()] = (shard.device.id, size)
    return found
