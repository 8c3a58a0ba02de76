/* What is known of the process, and where its files go. */
#include "capture/life/life.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/guest/raw_call.h"
#include "base/guest/signals.h"
#include "base/guest/start.h"
#include "base/settings/opt.h"
#include "base/settings/version.h"
#include "base/text/fd.h"
#include "base/text/path.h"
#include "base/text/text.h"
#include "capture/cuda/driver.h"
#include "capture/python/python.h"
#include "capture/recorder/record.h"
#include "capture/stack/unwind.h"
#include "capture/stack/walk.h"
#include "capture/torch/torch.h"
#include "spool/spool.h"

enum { NAMES = 1000, DEVICES = 64 };

static _Atomic uint64_t devices_known;
static _Atomic int driver_known; /* driver_version() */
static unsigned late_known;      /* which late facts are recorded; under the recorder's lock */

/*
 * The working directory of the start, where an option needs it. Where it is short it lies beside
 * what the constructor writes anyway.
 */
static START_DATA char near[200];
static char far[4096];

/* What %e stands for: a program that sets its title writes over it. */
static char program[256];

static __attribute__((noinline)) void ask_far(void)
{
	int saved = errno;

	near[0] = '\0';
	if (!getcwd(far, sizeof(far)))
		far[0] = '\0';
	errno = saved;
}

START_CODE static bool names_program(const char *output)
{
	for (; *output; output++) {
		if (output[0] == '%' && output[1] == 'e')
			return true;
	}
	return false;
}

START_CODE void process_paths_init(const char *started_as)
{
	const char *output = opt_text(OPT_ID_output);
	const char *spools = opt_text(OPT_ID_spool_dir);

	if ((output[0] != '/' || (*spools && spools[0] != '/')) &&
	    (raw_call(SYS_getcwd, raw_address(near), sizeof(near), 0) <= 0 || near[0] != '/'))
		ask_far();
	if (names_program(output))
		text_copy(program, sizeof(program), text_base(started_as));
}

/* The directory that a path of an option begins at, "" if it begins at the root. */
static const char *start_of(const char *path)
{
	if (path[0] == '/')
		return "";
	return near[0] ? near : far;
}

/* The pattern of outputs, absolute: a % in the name of a directory is none of its own. */
static void make_pattern(char *to, size_t size, const char *output)
{
	const char *start = start_of(output);
	size_t used = 0;

	for (const char *at = start; *at; at++) {
		to[used++] = *at;
		if (*at == '%')
			to[used++] = '%';
	}
	to[used] = '\0';
	if (start[0] && start[1])
		text_append(to, size, "/");
	text_append(to, size, output);
}

/* The directory of spools, absolute; "" for that of the output. */
static void make_directory(char *to, size_t size, const char *spools)
{
	const char *start = *spools ? start_of(spools) : "";

	text_join(to, size, start, *start ? "/" : "");
	text_append(to, size, spools);
}

/*
 * The spool, unless there is one or the output is there already. Another process may have had this
 * name until just now: it writes its document first, and then its spool goes.
 */
static int create_unless_there(const struct process_paths *paths, struct spool *spool)
{
	int error = fd_exists(paths->output) ? -EEXIST : spool_create(spool, paths->spool);

	if (!error && fd_exists(paths->output)) {
		spool_unlink(spool);
		spool_close(spool);
		error = -EEXIST;
	}
	return error;
}

static int create_in(struct process_paths *paths, struct spool *spool, const char *first,
		     const char *in)
{
	int error = -EEXIST;

	paths->spool[0] = '\0';
	for (unsigned n = 0; error == -EEXIST && n < NAMES; n++) {
		error = path_numbered(paths->output, sizeof(paths->output), first, n);
		if (!error)
			error = path_spool(paths->spool, sizeof(paths->spool), paths->output, in);
		if (!error)
			error = create_unless_there(paths, spool);
	}
	if (!paths->spool[0]) /* without a name a failure is told of what was asked for */
		text_copy(paths->spool, sizeof(paths->spool), in);
	return error;
}

int process_paths_create(struct process_paths *paths, struct spool *spool)
{
	/* One recording is opened at a time, maybe on a small stack. */
	static char pattern[3 * 4096]; /* a directory may be all % */
	static char first[4096];
	static char directory[4096];
	/* For a spool whose own place cannot claim space ahead. */
	const char *const others[] = { "/dev/shm", getenv("TMPDIR"), "/tmp" };
	struct path_words words = { .program = program };
	char pid[24];
	int error;

	/* Of this process, whose words other than %p and %e are its own. */
	text_u64(pid, (uint64_t)record_pid());
	words.pid = pid;
	make_pattern(pattern, sizeof(pattern), opt_text(OPT_ID_output));
	make_directory(directory, sizeof(directory), opt_text(OPT_ID_spool_dir));
	/* What fills its buffer may have been cut: that is no name to create anything under. */
	error = strlen(pattern) < sizeof(pattern) - 1
			? path_expand(first, sizeof(first), pattern, &words)
			: -ENAMETOOLONG;
	if (error) {
		text_copy(paths->spool, sizeof(paths->spool), pattern);
		return error;
	}
	error = create_in(paths, spool, first, directory);
	for (unsigned i = 0; error == -EOPNOTSUPP && i < sizeof(others) / sizeof(others[0]); i++) {
		if (others[i])
			error = create_in(paths, spool, first, others[i]);
	}
	return error;
}

static void record_command(struct intern *intern)
{
	static char words[8192]; /* as in create_in() */
	ssize_t length = fd_read_file("/proc/self/cmdline", words, sizeof(words));

	for (ssize_t at = 0; at < length; at += (ssize_t)strlen(words + at) + 1)
		intern_fact(intern, "command", words + at);
}

/* Settings of allocators that change memory: the trace tells them, a comparison looks at them. */
static const char settings[][40] = {
	"PYTORCH_CUDA_ALLOC_CONF",
	"PYTORCH_ALLOC_CONF",
	"PYTORCH_NO_CUDA_MEMORY_CACHING",
	"CUBLAS_WORKSPACE_CONFIG",
	"CUDA_MODULE_LOADING",
	"CUDA_VISIBLE_DEVICES",
	"XLA_PYTHON_CLIENT_PREALLOCATE",
	"XLA_PYTHON_CLIENT_MEM_FRACTION",
	"XLA_CLIENT_MEM_FRACTION",
	"XLA_PYTHON_CLIENT_ALLOCATOR",
	"NCCL_CUMEM_ENABLE",
	"CUPY_GPU_MEMORY_LIMIT",
};

static void record_settings(struct intern *intern)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		const char *value = getenv(settings[i]);

		/* The first two are shown in every trace, null when unset. */
		if (value || i < 2) {
			intern_fact(intern, "setting", settings[i]);
			intern_fact(intern, value ? "value" : "unset", value);
		}
	}
}

static void record_world(struct intern *intern)
{
	static const char keys[RANK_FACTS][16] = { "rank", "world_size", "local_rank" };

	for (enum rank_fact fact = 0; fact < RANK_FACTS; fact++) {
		if (rank_fact(fact))
			intern_fact(intern, keys[fact], rank_fact(fact));
	}
}

void process_info_late(struct intern *intern)
{
	static const char keys[][12] = { "python", "note", "torch", "unwinder", "cuda_driver" };
	char driver[24];
	const char *values[] = {
		python_version(), python_trouble(), torch_version(), unwind_name(), NULL,
	};

	if (atomic_load(&driver_known)) {
		text_u64(driver, (uint64_t)atomic_load(&driver_known));
		values[4] = driver;
	}
	for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!values[i] || (late_known >> i & 1))
			continue;
		intern_fact(intern, keys[i], values[i]);
		late_known |= 1u << i;
	}
}

void process_info_ask(void)
{
	atomic_store(&driver_known, driver_version());
}

void process_info_record(struct intern *intern, const struct process_paths *paths)
{
	struct spool_header *header = intern->spool->header;
	static char text[4096]; /* as in create_in() */

	header->pid = (uint32_t)record_pid();
	header->ppid = (uint32_t)getppid();
	header->boot_pid_start = process_start_ticks(record_pid());
	header->place = process_place();
	intern_fact(intern, "memtrace", MEMTRACE_VERSION);
	intern_fact(intern, "output", paths->output);
	if (!gethostname(text, sizeof(text)))
		intern_fact(intern, "host", text);
	if (getcwd(text, sizeof(text)))
		intern_fact(intern, "cwd", text);
	record_command(intern);
	record_world(intern);
	record_settings(intern);
	intern_fact(intern, "stacks", walk_mode());
	late_known = 0;
	process_info_late(intern);
	if (opt_trouble()) {
		text_join(text, sizeof(text), "the value of MEMTRACE_", opt_trouble());
		text_append(text, sizeof(text), " was not understood: the default was used");
		intern_fact(intern, "note", text);
	}
}

void process_info_device(int device)
{
	struct driver_facts facts;
	uint64_t bit = 1ull << (device & 63);
	struct signals_deferred deferred;
	char total[24];
	char ordinal[24];

	if (device < 0 || device >= DEVICES || (atomic_load(&devices_known) & bit) ||
	    (atomic_fetch_or(&devices_known, bit) & bit) || !driver_facts(device, &facts))
		return;
	text_u64(ordinal, (uint64_t)device);
	text_u64(total, facts.total_bytes);
	signals_defer(&deferred); /* the four belong together */
	record_lock();
	intern_fact(record_intern(), "device", ordinal);
	intern_fact(record_intern(), "name", facts.name);
	intern_fact(record_intern(), "uuid", facts.uuid);
	intern_fact(record_intern(), "total_bytes", total);
	record_unlock();
	signals_deliver(&deferred);
}

void process_info_clear(void)
{
	atomic_store(&devices_known, 0);
}

const char *process_info_error(int error)
{
	const char *text = strerrordesc_np(error < 0 ? -error : error);

	if (error == -EOWNERDEAD)
		return "a thread of the program ended inside an update";
	if (error == -ESTALE)
		return "the file was taken away, or another is in its place";
	return text ? text : "unknown error";
}
