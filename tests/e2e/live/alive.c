/*
 * alive: a program that does as it is told, a line of its standard input at a time, and answers
 *each line when it has done it. Its end of input is its end.
 *
 *	take N SIZE   N blocks of device memory, from take_here(): "taken NOW PEAK" (bytes)
 *	give N        gives the newest N back: "given NOW PEAK"
 *	pin SIZE      page-locked memory: "pinned"
 *	device I      what is taken next is of that device: "device"
 *	push NAME, pop
 *	churn         takes and gives without end, on threads: "churns"
 *	fork          a child that takes 1 MiB and lives until its parent ends: "child PID"
 *	exec          runs itself anew: "alive", as at the start
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cuda_runtime.h>
#include <memtrace/memtrace.h>

enum { MOST = 100000, MIB = 1 << 20, THREADS = 2 };

static struct {
	void *ptr;
	size_t size;
} blocks[MOST];
static size_t count;
static unsigned long now, peak;

__attribute__((noinline)) static void take_here(size_t size)
{
	if (count == MOST || cudaMalloc(&blocks[count].ptr, size))
		exit(1);
	blocks[count++].size = size;
	now += size;
	peak = now > peak ? now : peak;
}

static void give_newest(void)
{
	if (!count || cudaFree(blocks[--count].ptr))
		exit(1);
	now -= blocks[count].size;
}

__attribute__((noinline)) static void *churn_here(void *device)
{
	void *ptr = NULL;

	cudaSetDevice((int)(long)device);
	while (!cudaMalloc(&ptr, 4096) && !cudaFree(ptr))
		;
	return NULL;
}

static void churn(void)
{
	pthread_t thread;

	for (long i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, churn_here, (void *)i);
}

static void child(void)
{
	pid_t pid = fork();

	if (pid) {
		printf("child %d\n", (int)pid);
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	take_here(MIB);
	for (;;)
		pause();
}

__attribute__((noinline)) static void pin_here(size_t size)
{
	void *ptr;

	if (cudaMallocHost(&ptr, size))
		exit(1);
}

static void obey(char *line, char **argv)
{
	unsigned long number = 0, size = 0;

	if (sscanf(line, "take %lu %lu", &number, &size) == 2) {
		while (number--)
			take_here(size);
		printf("taken %lu %lu\n", now, peak);
	} else if (sscanf(line, "give %lu", &number) == 1) {
		while (number--)
			give_newest();
		printf("given %lu %lu\n", now, peak);
	} else if (sscanf(line, "pin %lu", &size) == 1) {
		pin_here(size);
		puts("pinned");
	} else if (sscanf(line, "device %lu", &number) == 1) {
		if (cudaSetDevice((int)number))
			exit(1);
		puts("device");
	} else if (!strncmp(line, "push ", 5)) {
		memtrace_push(line + 5);
		puts("pushed");
	} else if (!strcmp(line, "pop")) {
		memtrace_pop();
		puts("popped");
	} else if (!strcmp(line, "churn")) {
		churn();
		puts("churns");
	} else if (!strcmp(line, "fork")) {
		child();
	} else if (!strcmp(line, "exec")) {
		execv("/proc/self/exe", argv);
	} else {
		exit(2);
	}
}

int main(int argc, char **argv)
{
	char line[256];

	(void)argc;
	/* Bytes behind the line must stay in the pipe for the next program (exec). */
	setvbuf(stdin, NULL, _IONBF, 0);
	puts("alive");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		obey(line, argv);
		fflush(stdout);
	}
	return 0;
}
