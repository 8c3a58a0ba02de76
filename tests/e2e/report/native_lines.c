/* Allocates in functions that are inlined into each other, for native_lines.sh. */
#include <signal.h>
#include <stddef.h>
#include <stdio.h>

int cudaMalloc(void **to, size_t size);

static inline __attribute__((always_inline)) void *innermost(size_t size)
{
	void *p = NULL;

	if (cudaMalloc(&p, size))
		printf("refused\n");
	return p;
}

static inline __attribute__((always_inline)) void *middle(size_t size)
{
	void *p = innermost(2 * size);

	return p;
}

static __attribute__((noinline)) int outermost(size_t size)
{
	void *p = middle(size);
	int good = p != NULL;

	printf("%p\n", p);
	return good;
}

int main(int argc, char **argv)
{
	int good = outermost(1 << 20);

	good += outermost(3 << 20);
	if (argc > 1 && argv[1])
		raise(SIGKILL);
	return good != 2;
}
