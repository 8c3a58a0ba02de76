/*
 * Makes valid spools and traces of any size, through the library's own write path: no CUDA.
 *
 *	generator --events 100000 --spool t.spool
 *	generator --events 100000 --ranks 4 --json t.%r.json
 *
 * Prints one line per trace: what is true of it, counted without the ledger. The same seed gives
 * the same trace.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/settings/version.h"
#include "generator.h"
#include "render/document/document.h"
#include "unit/memory_spool.h"

static const char usage[] =
	"usage: generator [options] --spool FILE | --json FILE\n"
	"  --events N       events, marks and ranges included (10000)\n"
	"  --live N         allocations alive at the height of a step, all devices (1000)\n"
	"  --stacks N       distinct call stacks (200)\n"
	"  --devices N      (1, at most 64)\n"
	"  --threads N      (2)\n"
	"  --phases N       NVTX ranges a step: step, forward, backward, optimizer (4)\n"
	"  --pool NAME      the pool of the tensors (torch), none: plain driver allocations\n"
	"  --leak           each step forgets one block of 96 KiB a device\n"
	"  --growth BYTES   each step keeps so many bytes more a device\n"
	"  --max-events N   as MEMTRACE_MAX_EVENTS (all are kept)\n"
	"  --seed N         (1)\n"
	"  --ranks N        N traces, %r in FILE is the rank\n";

static int bad(const char *what)
{
	fprintf(stderr, "generator: %s\n%s", what, usage);
	return 2;
}

static bool number(const char *text, uint64_t most, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *value <= most;
}

/* One option with its value: 0, or 2 after complaint. */
static int option(struct wish *wish, const char *name, const char *value)
{
	const struct {
		const char *name;
		uint64_t *wide;
		unsigned *narrow;
		uint64_t least, most;
	} numbers[] = {
		{ "--events", &wish->events, NULL, 0, UINT32_MAX },
		{ "--live", &wish->live, NULL, 1, 100000000 },
		{ "--seed", &wish->seed, NULL, 0, UINT64_MAX },
		{ "--growth", &wish->growth, NULL, 0, 1ull << 34 },
		{ "--max-events", &wish->max_events, NULL, 0, UINT32_MAX },
		{ "--stacks", NULL, &wish->stacks, 1, 10000000 },
		{ "--devices", NULL, &wish->devices, 1, 64 },
		{ "--threads", NULL, &wish->threads, 1, 100000 },
		{ "--phases", NULL, &wish->phases, 0, 4 },
		{ "--ranks", NULL, &wish->ranks, 1, 10000 },
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		uint64_t got;

		if (strcmp(name, numbers[i].name))
			continue;
		if (!number(value, numbers[i].most, &got) || got < numbers[i].least)
			return bad("a number is out of range");
		if (numbers[i].wide)
			*numbers[i].wide = got;
		else
			*numbers[i].narrow = (unsigned)got;
		return 0;
	}
	if (!strcmp(name, "--pool"))
		wish->pool = strcmp(value, "none") ? value : NULL;
	else if (!strcmp(name, "--spool"))
		wish->spool = value;
	else if (!strcmp(name, "--json"))
		wish->json = value;
	else
		return bad("an unknown option");
	return 0;
}

static int read_wish(struct wish *wish, int argc, char **argv)
{
	bool bounded = false;

	*wish = (struct wish){ .events = 10000,
			       .live = 1000,
			       .seed = 1,
			       .stacks = 200,
			       .devices = 1,
			       .threads = 2,
			       .phases = 4,
			       .ranks = 1,
			       .pool = "torch" };
	for (int i = 1; i < argc; i++) {
		int error = 0;

		bounded |= !strcmp(argv[i], "--max-events");
		if (!strcmp(argv[i], "--leak"))
			wish->leak = true;
		else if (i + 1 == argc)
			error = bad("an option lacks its value");
		else
			error = option(wish, argv[i], argv[i + 1]);
		i += strcmp(argv[i], "--leak") != 0;
		if (error)
			return error;
	}
	if (!wish->spool && !wish->json)
		return bad("no file to write");
	if (!bounded)
		wish->max_events = wish->events * 2 + 1000000;
	return 0;
}

/* The name with the rank in the place of %r. */
static const char *name_of(const char *pattern, unsigned rank, char *path, size_t size)
{
	const char *at = strstr(pattern, "%r");

	if (at)
		snprintf(path, size, "%.*s%u%s", (int)(at - pattern), pattern, rank, at + 2);
	else
		snprintf(path, size, "%s", pattern);
	return path;
}

static void fact_number(struct intern *intern, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	intern_fact(intern, key, text);
}

/* A table of its own: its texts do not meet those that the program interned. */
static void write_facts(struct spool *spool, const struct wish *wish, unsigned rank)
{
	static const char *const facts[][2] = {
		{ "memtrace", MEMTRACE_VERSION },
		{ "host", "node7" },
		{ "cwd", "/home/user" },
		{ "command", "python" },
		{ "command", "train.py" },
		{ "setting", "PYTORCH_CUDA_ALLOC_CONF" },
		{ "unset", NULL },
		{ "setting", "PYTORCH_ALLOC_CONF" },
		{ "unset", NULL },
		{ "stacks", "python,native" },
		{ "unwinder", "libunwind" },
		{ "cuda_driver", "13000" },
		{ "torch", "2.11.0" },
		{ "python", "3.12.3" },
	};
	struct intern intern = { .spool = spool };
	char uuid[64];

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		intern_fact(&intern, facts[i][0], facts[i][1]);
	fact_number(&intern, "rank", rank);
	fact_number(&intern, "world_size", wish->ranks);
	for (unsigned d = 0; d < wish->devices; d++) {
		snprintf(uuid, sizeof(uuid), "GPU-00000000-0000-0000-%04u-%012u", rank, d);
		fact_number(&intern, "device", d);
		intern_fact(&intern, "name", "NVIDIA H200");
		intern_fact(&intern, "uuid", uuid);
		fact_number(&intern, "total_bytes", 150109880320);
	}
	intern_clear(&intern);
	spool->header->pid = 4242 + rank;
	spool->header->ppid = 4200;
	spool->header->start_realtime = 1795226584123456789u;
	spool->header->doors[3] = spool->header->seq; /* torch's */
	atomic_store(&spool->header->stop, SPOOL_CLOSED);
}

static void print_truth(const struct wish *wish, const struct program *program)
{
	printf("events=%llu steps=%llu phases=%llu pinned.live_bytes=%llu",
	       (unsigned long long)wish->events, (unsigned long long)program_steps(program),
	       (unsigned long long)program_ranges(program),
	       (unsigned long long)program_pinned(program));
	for (unsigned d = 0; d < wish->devices; d++) {
		const struct truth *truth = program_truth(program, d);

		printf(" device%u.peak_allocated=%llu device%u.peak_reserved=%llu "
		       "device%u.live_bytes=%llu device%u.reserved_bytes=%llu "
		       "device%u.allocations=%llu device%u.frees=%llu",
		       d, (unsigned long long)truth->peak_allocated, d,
		       (unsigned long long)truth->peak_reserved, d,
		       (unsigned long long)truth->allocated, d, (unsigned long long)truth->reserved,
		       d, (unsigned long long)truth->allocations, d,
		       (unsigned long long)truth->frees);
	}
	printf("\n");
}

static int write_json(const struct spool *spool, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int error;

	if (fd < 0)
		return -errno;
	error = document_write(spool, &(struct document_to){ .fd = fd }, SYMBOLS_LOAD, TRACE_EXIT,
			       NULL);
	if (close(fd) && !error)
		error = -errno;
	return error;
}

static int make(const struct wish *wish, unsigned rank)
{
	char path[4096] = "memory";
	struct spool spool;
	struct program *program;
	int error = wish->spool
			    ? spool_create(&spool, name_of(wish->spool, rank, path, sizeof(path)))
			    : memory_spool(&spool);

	if (error)
		goto out;
	spool_publish(&spool);
	program = program_run(wish, &spool, rank);
	error = program ? 0 : -ENOSPC;
	if (program && atomic_load(&spool.header->stop))
		error = -ENOSPC;
	if (!error) {
		write_facts(&spool, wish, rank);
		if (wish->json)
			error = write_json(&spool, name_of(wish->json, rank, path, sizeof(path)));
		print_truth(wish, program);
	}
	if (program)
		program_free(program);
	spool_close(&spool);
out:
	if (error)
		fprintf(stderr, "generator: %s: %s\n", path, strerror(-error));
	return error;
}

int main(int argc, char **argv)
{
	struct wish wish;
	int status = read_wish(&wish, argc, argv);

	for (unsigned rank = 0; !status && rank < wish.ranks; rank++)
		status = make(&wish, rank) ? 1 : 0;
	return fflush(stdout) ? 1 : status;
}
