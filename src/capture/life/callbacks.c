/* Defines the functions of recorder/callbacks.h except guest_control(), and records facts about the
 * process: command, host, rank, settings, devices. */
#include "capture/recorder/callbacks.h"
#include "base/mem/each.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/guest/signals.h"
#include "base/settings/opt.h"
#include "base/settings/version.h"
#include "base/text/fd.h"
#include "base/text/path.h"
#include "base/text/text.h"
#include "capture/cuda/device_usage.h"
#include "capture/cuda/driver.h"
#include "capture/life/life.h"
#include "capture/loader/loader.h"
#include "capture/python/python.h"
#include "capture/recorder/record_parts.h"
#include "capture/stack/stacks.h"
#include "capture/stack/unwind.h"
#include "capture/stack/walk.h"
#include "capture/torch/torch.h"

static _Atomic uint64_t devices_known; /* bit n is set once device n is recorded */
static _Atomic int driver_known;       /* result of driver_version(), 0 if unknown */
static unsigned late_known;            /* bit n is set once the n-th of keys[] is recorded */

static void record_command(void)
{
	static char words[8192]; /* not on the stack, which may be small */
	ssize_t length = fd_read_file("/proc/self/cmdline", words, sizeof(words));

	for (ssize_t at = 0; at < length; at += (ssize_t)strlen(words + at) + 1)
		record_fact("command", words + at);
}

/* Environment variables that change how much memory is used. `memtrace diff` compares them. */
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

static void record_settings(void)
{
	for (size_t i = 0; i < COUNT_OF(settings); i++) {
		const char *value = getenv(settings[i]);

		/* The first two are in every trace, with the value null if not set. */
		if (value || i < 2) {
			record_fact("setting", settings[i]);
			record_fact(value ? "value" : "unset", value);
		}
	}
}

static void record_world(void)
{
	static const char keys[RANK_FACTS][16] = { "rank", "world_size", "local_rank" };

	for (enum rank_fact fact = 0; fact < RANK_FACTS; fact++) {
		if (rank_fact(fact))
			record_fact(keys[fact], rank_fact(fact));
	}
}

void process_info_late(void)
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
	for (unsigned i = 0; i < COUNT_OF(keys); i++) {
		if (!values[i] || (late_known >> i & 1))
			continue;
		record_fact(keys[i], values[i]);
		late_known |= 1u << i;
	}
}

void guest_ask(void)
{
	atomic_store(&driver_known, driver_version());
}

static void record_process_info(void)
{
	struct spool_header *header = recorder.spool.header;
	static char text[4096]; /* not on the stack, which may be small */

	header->pid = (uint32_t)record_pid();
	header->ppid = (uint32_t)getppid();
	header->boot_pid_start = process_start_ticks(record_pid());
	header->place = process_place();
	record_fact("memtrace", MEMTRACE_VERSION);
	record_fact("output", recorder.paths.output);
	if (!gethostname(text, sizeof(text)))
		record_fact("host", text);
	if (getcwd(text, sizeof(text)))
		record_fact("cwd", text);
	record_command();
	record_world();
	record_settings();
	record_fact("stacks", walk_mode());
	late_known = 0;
	atomic_store(&devices_known, 0);
	process_info_late();
	if (opt_trouble()) {
		text_join(text, sizeof(text), "the value of MEMTRACE_", opt_trouble());
		text_append(text, sizeof(text), " was not understood: the default was used");
		record_fact("note", text);
	}
}

static __attribute__((noinline)) void describe_device(int device, uint64_t bit)
{
	struct driver_facts facts;
	char total[24];
	char ordinal[24];

	if ((atomic_fetch_or(&devices_known, bit) & bit) || !driver_facts(device, &facts))
		return;
	text_u64(ordinal, (uint64_t)device);
	text_u64(total, facts.total_bytes);
	SIGNALS_DEFERRED();
	if (record_held()) {
		atomic_fetch_and(&devices_known, ~bit);
		return;
	}
	record_lock(); /* keeps the four facts together */
	record_fact("device", ordinal);
	record_fact("name", facts.name);
	record_fact("uuid", facts.uuid);
	record_fact("total_bytes", total);
	record_unlock();
}

void guest_device(int device)
{
	uint64_t bit = 1ull << (device & 63);

	if (device >= 0 && device < DRIVER_DEVICES && !(atomic_load(&devices_known) & bit))
		describe_device(device, bit);
}

/* --- the functions of recorder/callbacks.h --- */

void guest_wake(void)
{
	walk_init();
	sampling_init();
}

static void look_for_libraries(void *unused)
{
	(void)unused;
	torch_prepare();
	autograd_prepare();
	if (!python_version())
		python_prepare(resolve_dlsym);
}

void guest_prepare(void *unused)
{
	life_watch_end();
	unwind_prepare();
	look_for_libraries(unused);
	finalize_load();
}

void guest_loaded(void)
{
	loader_call(look_for_libraries, NULL);
	record_lock();
	process_info_late();
	record_unlock();
}

void guest_open(void)
{
	struct spool_header *header = recorder.spool.header;

	header->sample = sampling_interval;
	control_opened(header);
	record_process_info();
	usage_settle();
	if (atomic_load(&torch_cpu_lost))
		record_fact("note", "this process was forked while PyTorch's CPU allocator was "
				    "busy: CPU tensors were not recorded");
}
