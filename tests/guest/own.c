/*
 * Descriptors are the program's: own CASE. A thread closes all from 3 on and opens files of its own
 * under their numbers, again and again, while the library writes: at the end (exit), into dumps
 * (dumps), into a spool that grows (growth), or begins (begin). Each file has bytes of its own in
 * it and nothing else, and its descriptor is its own until it is closed here; what is not so is
 * told on stdout.
 */
#include <cuda_runtime.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WELL = 7, FILES = 12, PAIRS = 200000, OWN = 'x' };

static atomic_bool go, over;
static atomic_long rounds;

static void must(int failed)
{
	if (failed)
		_exit(99);
}

static void pairs(int count)
{
	for (int i = 0; i < count; i++) {
		void *ptr;

		must(cudaMalloc(&ptr, 4096 + (size_t)(i % 100) * 512));
		must(cudaFree(ptr));
	}
}

static void tell(const char *what, int file)
{
	char line[80];
	int length = snprintf(line, sizeof(line), "file %d: %s\n", file, what);

	must(write(1, line, (size_t)length) != length);
}

static void look_at(int file, int fd, const struct stat *mine)
{
	char bytes[512];
	struct stat now;
	ssize_t length;

	if (fstat(fd, &now))
		tell("somebody closed it", file);
	else if (now.st_ino != mine->st_ino || now.st_dev != mine->st_dev)
		tell("somebody has its number", file);
	else if (write(fd, "x", 1) != 1)
		tell("cannot be written", file);
	length = pread(fd, bytes, sizeof(bytes), 0);
	for (ssize_t i = 0; i < length; i++) {
		if (bytes[i] != OWN) {
			tell("has bytes of somebody else", file);
			break;
		}
	}
}

static void *close_all(void *unused)
{
	while (!go)
		;
	for (unsigned round = 0; !over; round++) {
		struct stat mine[FILES];
		int fds[FILES];
		int files = 2 + (int)(round * 7 % (FILES - 1));

		close_range(3, ~0U, 0);
		for (int i = 0; i < files; i++) {
			char name[16];

			snprintf(name, sizeof(name), "mine%d", i);
			fds[i] = open(name, O_RDWR | O_CREAT | O_APPEND, 0600);
			must(fds[i] < 0 || fstat(fds[i], &mine[i]));
		}
		usleep(100 + round % 10 * 50);
		for (int i = 0; i < files; i++)
			look_at(i, fds[i], &mine[i]);
		rounds++;
	}
	return unused;
}

static void may_dump(void)
{
	struct sigaction action;

	sigaction(SIGUSR2, NULL, &action);
	if (action.sa_handler == SIG_DFL)
		signal(SIGUSR2, SIG_IGN); /* nobody waits for it */
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "exit";
	pthread_t thread;
	void *ptr;

	must(cudaFree(NULL));
	must(pthread_create(&thread, NULL, close_all, NULL));
	if (!strcmp(how, "begin")) {
		go = true;
		while (rounds < 3)
			;
		pairs(PAIRS);
	} else {
		pairs(1);
	}
	if (!strcmp(how, "growth")) {
		go = true;
		while (rounds < 300)
			pairs(1000);
	} else if (!strcmp(how, "dumps")) {
		may_dump();
		pairs(PAIRS / 10);
		go = true;
		while (rounds < 600) {
			raise(SIGUSR2);
			must(cudaMalloc(&ptr, 4096));
			must(cudaFree(ptr));
		}
	} else if (!strcmp(how, "exit")) {
		pairs(PAIRS);
		go = true;
		while (!rounds)
			;
		return WELL; /* the thread goes on */
	}
	over = true;
	pthread_join(thread, NULL);
	return WELL;
}
