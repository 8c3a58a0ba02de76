/* Fills the trace's first sections: the process, its environment, and how it was recorded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/each.h"
#include "base/text/text.h"
#include "render/document/document.h"
#include "spool/event_journal.h"

/* Returns the decimal number in the text; `none` if the text is NULL or anything else. */
static uint64_t number(const char *text, uint64_t none)
{
	if (text && *text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 19)
		return strtoull(text, NULL, 10);
	return none;
}

/* Allocates `size` bytes for each fact with the key in the spool, and `more` further times. */
static void *room_for(struct spool_model *recording, const char *key, size_t more, size_t size)
{
	for (uint32_t i = 0; (i = fact_find(recording->spool, key, i));)
		more++;
	return spool_model_room(recording, more, size);
}

/* Returns a Unix time (ns) as RFC 3339 in UTC, by Hinnant's "Low-Level Date Algorithms". */
static const char *time_text(struct spool_model *recording, uint64_t ns)
{
	uint64_t seconds = ns / 1000000000u;
	uint64_t days = seconds / 86400 + 719468;
	uint64_t era = days / 146097;
	uint64_t doe = days % 146097;
	uint64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	uint64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	uint64_t mp = (5 * doy + 2) / 153;
	uint64_t month = mp < 10 ? mp + 3 : mp - 9;
	char text[64];

	snprintf(text, sizeof(text), "%u-%02u-%02uT%02u:%02u:%02u.%09uZ",
		 (unsigned)(yoe + era * 400 + (month <= 2)), (unsigned)month,
		 (unsigned)(doy - (153 * mp + 2) / 5 + 1), (unsigned)(seconds / 3600 % 24),
		 (unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60),
		 (unsigned)(ns % 1000000000u));
	return spool_model_text(recording, text);
}

static void fill_process(struct spool_model *recording, enum trace_exit exit)
{
	const struct spool *spool = recording->spool;
	const struct spool_header *header = spool->header;
	struct trace_process *process = &recording->trace->process;

	process->pid = header->pid;
	process->ppid = header->ppid;
	process->host = fact_told(spool, "host");
	process->rank = number(fact_told(spool, "rank"), 0);
	process->world_size = number(fact_told(spool, "world_size"), 1);
	process->local_rank = number(fact_told(spool, "local_rank"), TRACE_NONE);
	process->command = room_for(recording, "command", 0, sizeof(*process->command));
	for (uint32_t i = 0; process->command && (i = fact_find(spool, "command", i));) {
		const char *word = fact_value(spool, i);

		process->command[process->command_n++] = word ? word : "";
	}
	process->cwd = fact_told(spool, "cwd");
	process->start_time = time_text(recording, header->start_realtime);
	process->start_ticks = header->boot_pid_start;
	process->duration_ns = header->end ? header->end : header->t;
	process->exit = (int)exit;
}

static void fill_settings(struct spool_model *recording, struct trace_environment *environment)
{
	const struct spool *spool = recording->spool;

	environment->settings = room_for(recording, "setting", 0, sizeof(*environment->settings));
	for (uint32_t i = 0; environment->settings && (i = fact_find(spool, "setting", i));) {
		uint32_t value = fact_find(spool, "value", i);

		/* A setting without a value is not followed by a fact "value". */
		environment->settings[environment->settings_n++] =
			(struct trace_pair){ fact_value(spool, i),
					     value == i + 1 ? fact_value(spool, value) : NULL };
	}
}

static void fill_cards(struct spool_model *recording, struct trace_environment *environment)
{
	const struct spool *spool = recording->spool;

	environment->devices = room_for(recording, "device", 0, sizeof(*environment->devices));
	for (uint32_t i = 0; environment->devices && (i = fact_find(spool, "device", i));)
		environment->devices[environment->devices_n++] = (struct trace_card){
			.device = (int)number(fact_value(spool, i), UINT64_MAX),
			.name = fact_value(spool, fact_find(spool, "name", i)),
			.uuid = fact_value(spool, fact_find(spool, "uuid", i)),
			.total_bytes = number(fact_value(spool, fact_find(spool, "total_bytes", i)),
					      TRACE_NONE),
		};
}

/* Returns the CUDA runtime's version: 13000 if "libcudart.so.13" is loaded; 0 if not known. */
static uint64_t runtime_version(const struct spool_model *recording)
{
	static const char name[] = "libcudart.so.";
	uint64_t modules = spool_count(recording->spool, SPOOL_MODULE);

	for (uint32_t i = 0; i < modules; i++) {
		const char *path =
			spool_text(recording->spool, spool_model_module(recording, i)->path);
		const char *base = path ? text_base(path) : "";

		if (!strncmp(base, name, sizeof(name) - 1))
			return strtoull(base + sizeof(name) - 1, NULL, 10) % 1000 * 1000;
	}
	return 0;
}

static void fill_environment(struct spool_model *recording)
{
	struct trace_environment *environment = &recording->trace->environment;
	const struct spool *spool = recording->spool;

	environment->memtrace = fact_told(spool, "memtrace");
	environment->cuda_driver = number(fact_told(spool, "cuda_driver"), 0);
	environment->cuda_runtime = runtime_version(recording);
	environment->torch = fact_told(spool, "torch");
	environment->python = fact_told(spool, "python");
	fill_settings(recording, environment);
	fill_cards(recording, environment);
}

const char *document_stop_text(unsigned stop)
{
	switch (stop) {
	case SPOOL_NO_SPACE:
		return "recording stopped early: no space for the spool (full disk, quota or "
		       "ulimit -f)";
	case SPOOL_VANISHED:
		return "recording stopped early: its file, the spool, was removed or can no longer "
		       "be opened";
	case SPOOL_TOO_LARGE:
		return "recording stopped early: the spool reached its maximum size";
	case SPOOL_NO_FILES:
		return "recording stopped early: no file descriptor was free to extend the spool";
	case SPOOL_ABANDONED:
		return "recording stopped early: a thread of the program ended while it updated "
		       "the recording, or never finished the update";
	case SPOOL_NO_MEMORY:
		return "recording stopped early: not enough memory to map the spool";
	default:
		return NULL;
	}
}

static void note(struct spool_model *recording, const char *text)
{
	struct trace_capture *capture = &recording->trace->capture;

	if (text && capture->notes)
		capture->notes[capture->notes_n++] = spool_model_text(recording, text);
}

static void note_count(struct spool_model *recording, uint64_t count, const char *what)
{
	char text[640];

	if (!count)
		return;
	text_u64(text, count);
	text_append(text, sizeof(text), what);
	note(recording, text);
}

static void note_unnamed(struct spool_model *recording)
{
	char text[512] = " native frames have no names, because files that contain their code are "
			 "missing or have changed since they were loaded, for example ";

	if (recording->unnamed)
		text_append(text, sizeof(text), recording->unnamed);
	note_count(recording, recording->unnamed_n, text);
}

static void note_torn(struct spool_model *recording)
{
	const struct spool *spool = recording->spool;
	char text[256] = "the process kept recording while its spool was read, so totals, lines "
			 "and live memory are from different times, which can be up to ";

	if (!spool->torn)
		return;
	text_u64(text + strlen(text), spool->torn_events);
	text_append(text, sizeof(text), " events (");
	text_u64(text + strlen(text), spool->torn_ns / 1000);
	text_append(text, sizeof(text), " us) apart");
	note(recording, text);
}

static void note_sampling(struct spool_model *recording, uint64_t interval)
{
	static const char units[][8] = { " bytes", " KiB", " MiB", " GiB" };
	unsigned unit = 0;
	char text[256] = "bytes of call sites are estimated from one sample for every ";

	if (!interval)
		return;
	for (; unit < 3 && interval % 1024 == 0; unit++)
		interval /= 1024;
	text_u64(text + strlen(text), interval);
	text_append(text, sizeof(text), units[unit]);
	text_append(text, sizeof(text),
		    " allocated (MEMTRACE_SAMPLE); totals and peaks are exact; the call sites of "
		    "frees are not recorded");
	note(recording, text);
}

static void fill_notes(struct spool_model *recording)
{
	enum { OTHERS = 17 + SPOOL_KINDS };
	const struct spool *spool = recording->spool;
	const struct spool_header *header = spool->header;
	struct trace_capture *capture = &recording->trace->capture;

	capture->notes = room_for(recording, "note", OTHERS, sizeof(*capture->notes));
	note(recording, document_stop_text(atomic_load(&header->stop)));
	for (uint32_t i = 0; (i = fact_find(spool, "note", i));)
		note(recording, fact_value(spool, i));
	note_count(recording, atomic_load(&header->nested),
		   " memory calls in signal handlers were not recorded, because they "
		   "interrupted an update of the recording");
	note_count(recording, atomic_load(&header->abandoned),
		   " updates of the recording were never finished (a signal handler jumped away, "
		   "or a thread was cancelled) and were undone; the trace lacks them");
	if (spool->cut)
		note(recording, "the last update of the recording was cut off and is left out");
	note_torn(recording);
	note_unnamed(recording);
	note_count(recording, header->paused,
		   " events while recording was stopped are included only in totals and peaks");
	note_count(recording, header->filtered,
		   " events are filtered out (MEMTRACE_FILTER): totals and peaks include them, "
		   "but events[] and what is computed from it do not");
	note_sampling(recording, header->sample);
	note_count(recording, header->unmatched,
		   " frees were of addresses whose allocation was not recorded");
	note_count(recording, atomic_load(&header->late),
		   " memory calls came after recording had ended and are not in the trace");
	note_count(recording, header->used_dropped,
		   " samples of used device memory did not fit in used[]; peaks include them");
#define BOUND(kind, most, what) note_count(recording, header->left_out[SPOOL_##kind], what);
#include "ledger/bounds.def"
	if (recording->damaged)
		note(recording, "parts of the recording were damaged and are left out");
}

static void fill_doors(struct spool_model *recording)
{
	static const char doors[][16] = { "linked", "dlsym", "procaddress", "torch" };
	enum { DOORS = COUNT_OF(doors) };
	struct trace_capture *capture = &recording->trace->capture;

	capture->hooks = spool_model_room(recording, DOORS, sizeof(*capture->hooks));
	for (unsigned i = 0; capture->hooks && i < DOORS; i++) {
		char count[24];

		text_u64(count, recording->spool->header->doors[i]);
		capture->hooks[capture->hooks_n++] =
			(struct trace_pair){ doors[i], spool_model_text(recording, count) };
	}
}

static void fill_cost(const struct spool_cost *costs, struct trace_capture *capture)
{
	struct trace_cost *const kinds[SPOOL_COSTS] = { &capture->cost.driver, &capture->cost.block,
							&capture->cost.range };
	struct spool_cost all = { 0 };

	for (unsigned i = 0; i < SPOOL_COSTS; i++) {
		all.ns += costs[i].ns;
		all.events += costs[i].events;
		if (costs[i].events)
			*kinds[i] = (struct trace_cost){ costs[i].ns / costs[i].events,
							 costs[i].events };
	}
	capture->ns_per_event = all.events ? all.ns / all.events : 0;
}

static void fill_capture(struct spool_model *recording)
{
	const struct spool *spool = recording->spool;
	const struct spool_header *header = spool->header;
	struct trace_capture *capture = &recording->trace->capture;
	uint64_t dropped = header->dropped < header->seq ? header->dropped : header->seq;
	/* events that the trace lacks; only its totals and peaks include them */
	uint64_t without = dropped + header->paused + header->filtered;
	const char *stacks = fact_told(spool, "stacks");
	const char *unwinder = fact_told(spool, "unwinder");

	fill_doors(recording);
	capture->stacks = stacks ? stacks : "none";
	capture->unwinder = unwinder ? unwinder : "none";
	capture->events_recorded = header->seq - dropped;
	capture->events_dropped = without;
	if (!journal_since(spool, &capture->events_since))
		capture->events_since = TRACE_NONE;
	capture->events_stopped = header->paused;
	capture->events_filtered = header->filtered;
	capture->sample_bytes = header->sample;
	capture->truncated = without || document_stop_text(atomic_load(&header->stop));
	fill_cost(header->costs, capture);
	fill_notes(recording);
}

void document_head(struct spool_model *recording, enum trace_exit exit)
{
	recording->trace->schema = "memtrace/1";
	fill_process(recording, exit);
	fill_environment(recording);
	fill_capture(recording);
}
