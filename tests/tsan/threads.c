/*
 * Everything that threads can do to the library at once: threads FOLDER ROUNDS [whole]. It is
 * linked with a library that was compiled with -fsanitize=thread (a preload would come before the
 * sanitizer's own runtime), and says nothing but what that finds.
 *
 * Eight threads at work at a time, and main() ends while some still are: the document is written
 * beside their calls.
 */
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <memtrace/memtrace.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define REPORT _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE

enum { KIB = 1024, BLOCKS = 64, CPU = 0, CUDA = 1, SLOTS = 32 };

typedef void (*function)(void);

/* The library's own: PyTorch's report door, and CUDA's and NVTX's injection points. */
void REPORT(void *ptr, int64_t size, uint64_t allocated, uint64_t reserved, uint64_t device);
int InitializeInjection(void);
int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t id));

static int rounds;
static bool whole;
static const char *folder;
static atomic_bool over;
static pthread_barrier_t start;

/* A child must not be born while the program itself is inside the loader: see
 * capture/loader/loader.h. */
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

/* A stack of its own for each `way`: which of the two calls comes at each depth. */
static void walk(unsigned way, int depth)
{
	static atomic_int left;
	static atomic_int right;
	void *ptr = NULL;

	/* The calls differ in what follows, or the compiler would make one of them. */
	if (depth && way & 1u) {
		walk(way >> 1, depth - 1);
		atomic_fetch_add_explicit(&left, 1, memory_order_relaxed);
	} else if (depth) {
		walk(way >> 1, depth - 1);
		atomic_fetch_add_explicit(&right, 1, memory_order_relaxed);
	} else if (!cudaMalloc(&ptr, (size_t)(1 + way % 7) * KIB)) {
		cudaFree(ptr);
	}
}

/* Stacks that several threads meet for the first time at about the same time. */
static void *ways(void *unused)
{
	(void)unused;
	for (int i = 0; i < rounds * 4; i++)
		walk((unsigned)i, 12);
	return NULL;
}

#define SITE                        \
	if (!cudaMalloc(&ptr, KIB)) \
		cudaFree(ptr);
#define SITES SITE SITE SITE SITE SITE SITE SITE SITE
#define MORE_SITES SITES SITES SITES SITES SITES SITES SITES SITES
#define MANY_SITES \
	MORE_SITES MORE_SITES MORE_SITES MORE_SITES MORE_SITES MORE_SITES MORE_SITES MORE_SITES

/* More callers than are remembered: each is looked up again, and takes another one's place. */
static void callers_once(void)
{
	void *ptr = NULL;

	MANY_SITES
}

static void *callers(void *unused)
{
	for (int i = 0; i < rounds / 100; i++)
		callers_once();
	return unused;
}

/* Stream-ordered memory, of the device's own pool and of one that comes and goes. */
static void *streams(void *unused)
{
	static const struct cudaMemPoolProps here = {
		.allocType = cudaMemAllocationTypePinned,
		.location = { cudaMemLocationTypeDevice, 0 },
	};

	(void)unused;
	for (int i = 0; i < rounds; i++) {
		cudaMemPool_t pool;
		void *ptr = NULL;

		if (!cudaMallocAsync(&ptr, 64 * KIB, NULL))
			cudaFreeAsync(ptr, NULL);
		if (i % 8 || cudaMemPoolCreate(&pool, &here))
			continue;
		if (!cudaMallocFromPoolAsync(&ptr, 64 * KIB, pool, NULL))
			cudaFreeAsync(ptr, NULL);
		cudaMemPoolDestroy(pool);
	}
	return NULL;
}

/* What does not lie in the device's own address space, or has no address at all. */
static void *others(void *unused)
{
	static const struct cudaChannelFormatDesc texel = { 32, 0, 0, 0,
							    cudaChannelFormatKindFloat };

	(void)unused;
	for (int i = 0; i < rounds; i++) {
		cudaArray_t array = NULL;
		void *ptr = NULL;

		if (!cudaMallocHost(&ptr, 4 * KIB))
			cudaFreeHost(ptr);
		if (!cudaMallocManaged(&ptr, 4 * KIB, cudaMemAttachGlobal))
			cudaFree(ptr);
		if (!cudaMallocArray(&array, &texel, 16, 16, 0))
			cudaFreeArray(array);
	}
	return NULL;
}

static void *granules(void *unused)
{
	static const CUmemAllocationProp here = { .type = CU_MEM_ALLOCATION_TYPE_PINNED,
						  .location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 } };
	const size_t size = 2048 * KIB;

	(void)unused;
	cudaFree(NULL); /* a context */
	for (int i = 0; i < rounds; i++) {
		CUmemGenericAllocationHandle handle;
		CUdeviceptr at;

		if (cuMemAddressReserve(&at, size, 0, 0, 0))
			continue;
		if (!cuMemCreate(&handle, size, &here, 0)) {
			if (!cuMemMap(at, size, 0, handle, 0))
				cuMemUnmap(at, size);
			cuMemRelease(handle);
		}
		cuMemAddressFree(at, size);
	}
	return NULL;
}

/* As PyTorch's allocator: under a lock of its own, with its totals. */
static void *blocks(void *unused)
{
	uint64_t allocated = 0;
	char *segment = NULL;

	(void)unused;
	cudaMalloc((void **)&segment, BLOCKS * KIB);
	for (int i = 0; i < rounds * 4; i++) {
		int64_t size = i % 2 ? -KIB : KIB;

		allocated += (uint64_t)size;
		REPORT(segment + i / 2 % BLOCKS * KIB, size, allocated, BLOCKS * KIB, CUDA);
	}
	cudaFree(segment);
	return NULL;
}

static void *names(void *unused)
{
	memtrace_pool pool = memtrace_pool_create("tsan");
	char *segment = NULL;

	(void)unused;
	cudaMalloc((void **)&segment, BLOCKS * KIB);
	memtrace_pool_reserve(pool, segment, BLOCKS * KIB);
	for (int i = 0; i < rounds; i++) {
		memtrace_push("phase");
		memtrace_pool_alloc(pool, segment, KIB);
		memtrace_label(segment, "label");
		memtrace_mark("mark");
		memtrace_pool_free(pool, segment);
		memtrace_pop();
	}
	memtrace_pool_release(pool, segment);
	cudaFree(segment);
	return NULL;
}

/* The tables of NVTX's own library, which its injection fills; each thread here has a copy. */
static _Thread_local function nvtx[8][SLOTS];
static _Thread_local function *nvtx_table[8][SLOTS];

static int module_table(int module, function ***table, unsigned int *size)
{
	for (unsigned i = 0; i < SLOTS; i++)
		nvtx_table[module][i] = &nvtx[module][i];
	*table = nvtx_table[module];
	*size = SLOTS;
	return 1;
}

static const void *callbacks(uint32_t id)
{
	static const struct {
		size_t size;
		int (*module_table)(int module, function ***table, unsigned int *size);
	} table = { sizeof(table), module_table };

	return id == 1 ? &table : NULL;
}

/* Slots: NVTX_CBID_CORE_* and NVTX_CBID_CORE2_* of nvtxTypes.h. */
static void *ranges(void *unused)
{
	if (!InitializeInjectionNvtx2(callbacks)) {
		fputs("threads: no NVTX\n", stderr);
		exit(2);
	}
	for (int i = 0; i < rounds; i++) {
		void *(*domain_create)(const char *) = (void *(*)(const char *))nvtx[5][12];
		void *(*register_string)(void *, const char *) =
			(void *(*)(void *, const char *))nvtx[5][11];
		uint64_t (*range_start)(const char *) = (uint64_t(*)(const char *))nvtx[1][5];
		uint64_t range = range_start("start");
		void *ptr = NULL;

		((int (*)(const char *))nvtx[1][9])("push");
		register_string(domain_create("domain"), "registered");
		if (!cudaMalloc(&ptr, KIB))
			cudaFree(ptr);
		((int (*)(void))nvtx[1][11])();
		((void (*)(const char *))nvtx[1][2])("mark");
		((void (*)(uint64_t))nvtx[1][7])(range);
	}
	return unused;
}

static void *load(const char *path)
{
	void *handle;

	pthread_mutex_lock(&loading);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	pthread_mutex_unlock(&loading);
	if (!handle) {
		fprintf(stderr, "threads: %s\n", dlerror());
		exit(2);
	}
	return handle;
}

/* Libraries come and go, the same file under several names: modules are looked at again. */
static void *plugs(void *unused)
{
	(void)unused;
	for (int i = 0; i < rounds / 4; i++) {
		char path[4096];
		int (*plug)(void **, size_t);
		void *handle;
		void *ptr = NULL;

		/* PyTorch comes once, in the middle of it all, and stays. */
		if (i == rounds / 8)
			load("libc10.so");
		snprintf(path, sizeof(path), "%s/plug%d.so", folder, i % 4);
		handle = load(path);
		*(void **)&plug = dlsym(handle, "plug");
		if (plug && !plug(&ptr, KIB))
			cudaFree(ptr);
		pthread_mutex_lock(&loading);
		dlclose(handle);
		pthread_mutex_unlock(&loading);
	}
	return NULL;
}

/*
 * What a child does. Under ThreadSanitizer it cannot call the loader (the sanitizer's own allocator
 * is left locked by whoever was in it); `whole` says that it is not here.
 */
static int child_of(int i)
{
	void *ptr = NULL;

	alarm(60); /* one that hangs is a failure */
	memtrace_push("child");
	((void *(*)(void *, const char *))nvtx[5][11])(NULL, "registered by a child");
	memtrace_pop();
	if (!whole)
		return 0;
	/* The driver refuses a child of a process that used it; PyTorch's CPU tensors are what the
	 * workers of a data loader make. */
	callers_once();
	for (int block = 1; block <= 64; block++)
		REPORT((void *)(uintptr_t)(block * KIB), KIB, (uint64_t)(block * KIB),
		       (uint64_t)(i * KIB), CPU);
	cudaMalloc(&ptr, KIB);
	return 0;
}

static void *births(void *unused)
{
	InitializeInjectionNvtx2(callbacks);
	for (int i = 0; i < rounds / 40; i++) {
		int status = 1;
		pid_t child;

		pthread_mutex_lock(&loading);
		child = fork();
		pthread_mutex_unlock(&loading);
		if (!child && whole)
			exit(child_of(i));
		if (!child)
			_exit(child_of(i));
		if (waitpid(child, &status, 0) != child || status) {
			fprintf(stderr, "threads: a child ended with %#x\n", (unsigned)status);
			_exit(2);
		}
	}
	return unused;
}

/* What others decide: on and off, a failure, one more look. */
static void *control(void *unused)
{
	(void)unused;
	for (int i = 0; i < rounds / 8; i++) {
		void *ptr = NULL;

		cudaMalloc(&ptr, (size_t)1 << 50);
		memtrace_stop();
		cudaMalloc(&ptr, (size_t)1 << 50);
		memtrace_start();
		memtrace_enable(0);
		memtrace_enable(1);
		InitializeInjection();
		dlsym(RTLD_DEFAULT, i % 2 ? "cudaMalloc" : "cuMemAlloc_v2");
	}
	return NULL;
}

typedef void *work(void *);

/* Eight at a time: the first event is raced for by the first row of them. */
static work *const works[][8] = {
	{ ways, streams, granules, blocks, names, plugs, control, births },
	{ callers, others, ranges, ranges, ways, callers, plugs, births },
};

static work *const kinds[] = { streams, others, granules, blocks, names, ranges };

enum { SHIFTS = sizeof(works) / sizeof(works[0]), WORKS = 8, LATE = 3 };

static void *begin(void *which)
{
	work *const *what = which;

	pthread_barrier_wait(&start);
	return (*what)(NULL);
}

static void *forever(void *unused)
{
	static work *const what[LATE] = { callers, streams, ranges };

	while (!atomic_load(&over))
		what[(size_t)unused](NULL);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[WORKS];

	if (argc < 3)
		return 2;
	folder = argv[1];
	rounds = atoi(argv[2]);
	whole = argc > 3;
	pthread_barrier_init(&start, NULL, WORKS);
	for (size_t shift = 0; shift < SHIFTS; shift++) {
		for (size_t i = 0; i < WORKS; i++)
			pthread_create(&thread[i], NULL, begin, (void *)&works[shift][i]);
		for (size_t i = 0; i < WORKS; i++)
			pthread_join(thread[i], NULL);
	}
	/* Whatever control() made of it: each kind is in the trace. */
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		kinds[i](NULL);
	for (size_t i = 0; i < LATE; i++)
		pthread_create(&thread[i], NULL, forever, (void *)i);
	usleep(50000);
	return 0;
}
