/*
 * Counted calls: every row of counted_calls.def, through every door that leads to it.
 *
 *	calls rows      each row through each door, once; prints "NAME COUNT" of what counts
 *	calls threads   64 threads, 10,000 launches each
 *	calls fork      a child that launches
 *	calls heirs     a child whose maker had threads that launched, and that has its own
 *	calls handlers  a thread launches, and so does its signal handler; prints how often
 *	calls nested    a runtime call that makes a driver call; a failing one
 *	calls early     before the first allocation; "calls none": without any
 *	calls forever   until it is killed; prints how many it made, now and then
 *
 * `handlers` is to be run with FAKE_CUDA_SIGNALS=1, for a handler must not call the driver in the
 * middle of the driver.
 */
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <memtrace/memtrace.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Nothing that is passed is looked at, so what is passed need not be right. */
typedef long any_fn(long, long, long, long, long, long, long, long, long, long, long, long);
#define ZEROS 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0

#define LINKED(api, name) extern any_fn linked_##name __asm__(#name);
#define CALL(api, name, ...) LINKED(api, name)
#define CALLS(twin, api, name, ...) LINKED(api, name) LINKED(api, name##twin)
#include "../../../src/capture/loader/counted_calls.def"

enum api { RT, DRV };

static const struct row {
	enum api api;
	const char *name;
	any_fn *linked;
} rows[] = {
#define CALL(api, name, ...) { api, #name, linked_##name },
#define CALLS(twin, api, name, ...) CALL(api, name){ api, #name #twin, linked_##name##twin },
#include "../../../src/capture/loader/counted_calls.def"
};

enum {
	ROWS = sizeof(rows) / sizeof(rows[0]),
	THREADS = 64,
	FEW = 8,
	LAUNCHES = 10000,
	SIGNALS = 5000,
};

static void *allocate(void)
{
	void *ptr = NULL;

	cudaMalloc(&ptr, 1 << 20);
	return ptr;
}

/* As a runtime asks: the name without version, and a flag for the twin. */
static any_fn *ask(const char *name)
{
	char base[64];
	char *end;
	void *found = NULL;
	int flags = strstr(name, "_pt") ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
					: CU_GET_PROC_ADDRESS_LEGACY_STREAM;

	snprintf(base, sizeof(base), "%s", name);
	end = strstr(base, "_v2");
	if (!end)
		end = strstr(base, "_pt");
	if (end)
		*end = '\0';
	cuGetProcAddress_v2(base, &found, CUDA_VERSION, (cuuint64_t)flags, NULL);
	return (any_fn *)found;
}

static int all_rows(void)
{
	void *runtime = dlopen("libcudart.so.13", RTLD_NOW);
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);

	allocate();
	for (int i = 0; i < ROWS; i++) {
		any_fn *found = (any_fn *)dlsym(rows[i].api == RT ? runtime : driver, rows[i].name);
		int made = 2;

		rows[i].linked(ZEROS);
		found(ZEROS);
		if (rows[i].api == DRV) {
			ask(rows[i].name)(ZEROS);
			made++;
		}
		printf("%s %d\n", rows[i].name, made);
	}
	return 0;
}

static void *launch(void *times)
{
	dim3 one = { 1, 1, 1 };

	for (int i = 0; i < *(int *)times; i++)
		cudaLaunchKernel((void *)launch, one, one, NULL, 0, NULL);
	return NULL;
}

static void launch_in(int count, int times)
{
	pthread_t list[THREADS];

	for (int i = 0; i < count; i++)
		pthread_create(&list[i], NULL, launch, &times);
	for (int i = 0; i < count; i++)
		pthread_join(list[i], NULL);
}

static int threads(void)
{
	allocate();
	launch_in(THREADS, LAUNCHES);
	return 0;
}

/* CUDA is of no use in a child, but a call may be made. */
static int forks(void)
{
	int before = 3;
	int times = 100;
	pid_t child;

	allocate();
	launch(&before);
	child = fork();
	if (!child) {
		launch(&times);
		_exit(0);
	}
	return waitpid(child, NULL, 0) != child;
}

/* The driver serves no child, so its calls fail; a pool of its own makes a trace of them. */
static int heirs(void)
{
	static char segment[4096];
	int times = 100;
	pid_t child;

	allocate();
	launch_in(FEW, LAUNCHES);
	child = fork();
	if (child)
		return waitpid(child, NULL, 0) != child;
	memtrace_pool_reserve(memtrace_pool_create("heir"), segment, sizeof(segment));
	launch(&times);
	launch_in(THREADS, LAUNCHES);
	return 0;
}

static atomic_long handled;
static atomic_bool enough;

static void handle(int number)
{
	int once = 1;

	(void)number;
	launch(&once);
	handled++;
}

static void *send(void *to)
{
	for (long i = 0; i < SIGNALS; i++) {
		pthread_kill(*(pthread_t *)to, SIGUSR1);
		while (handled == i)
			;
	}
	enough = true;
	return NULL;
}

static int handlers(void)
{
	struct sigaction action = { .sa_handler = handle };
	pthread_t self = pthread_self();
	pthread_t sender;
	int once = 1;
	long made = 0;

	allocate();
	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&sender, NULL, send, &self);
	for (; !enough; made++)
		launch(&once);
	pthread_join(sender, NULL);
	printf("%ld\n", made + handled);
	return 0;
}

static int nested(void)
{
	cudaStream_t stream;

	cudaFree(allocate());
	cudaStreamCreate(&stream);
	for (int i = 0; i < 5; i++)
		cudaStreamSynchronize(stream);
	for (int i = 0; i < 3; i++)
		cuStreamSynchronize((CUstream)stream);
	cudaStreamSynchronize((cudaStream_t)0x1234567);
	return 0;
}

static int forever(void)
{
	int times = 1000;

	allocate();
	for (long made = 0;; made += times) {
		launch(&times);
		printf("%ld\n", made + times);
		fflush(stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "rows";

	cudaSetDevice(0);
	if (!strcmp(what, "rows"))
		return all_rows();
	if (!strcmp(what, "threads"))
		return threads();
	if (!strcmp(what, "fork"))
		return forks();
	if (!strcmp(what, "heirs"))
		return heirs();
	if (!strcmp(what, "handlers"))
		return handlers();
	if (!strcmp(what, "nested"))
		return nested();
	if (!strcmp(what, "forever"))
		return forever();
	for (int i = 0; i < 7; i++)
		cudaDeviceSynchronize();
	if (!strcmp(what, "early"))
		allocate();
	return 0;
}
