/* The document's first sections: whose trace it is, and how it was taken. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
#include "render/document/document.h"
#include "render/document/document_sections.h"
#include "spool/journal.h"

static const char *value_of(const struct filler *filler, uint32_t fact)
{
	return recording_value(filler->recording, fact);
}

static const char *fact(const struct filler *filler, const char *key)
{
	return value_of(filler, recording_fact(filler->recording, key, 0));
}

/* A fact that is a number, else the number for none. */
static uint64_t number(const char *text, uint64_t none)
{
	if (text && *text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 19)
		return strtoull(text, NULL, 10);
	return none;
}

static size_t count_facts(const struct filler *filler, const char *key)
{
	size_t count = 0;

	for (uint32_t i = 0; (i = recording_fact(filler->recording, key, i));)
		count++;
	return count;
}

/* RFC 3339 in UTC; the civil date from days (Howard Hinnant, "chrono-compatible algorithms"). */
static const char *time_text(struct filler *filler, uint64_t ns)
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
	return filler_text(filler, text);
}

static bool fill_process(struct filler *filler, uint64_t i, void *item)
{
	const struct spool_header *header = filler->spool->header;
	struct trace_process *process = item;

	(void)i;
	process->pid = header->pid;
	process->ppid = header->ppid;
	process->host = fact(filler, "host");
	process->rank = number(fact(filler, "rank"), 0);
	process->world_size = number(fact(filler, "world_size"), 1);
	process->local_rank = number(fact(filler, "local_rank"), TRACE_NONE);
	process->command =
		filler_room(filler, count_facts(filler, "command"), sizeof(*process->command));
	for (uint32_t k = 0;
	     process->command && (k = recording_fact(filler->recording, "command", k));) {
		const char *word = value_of(filler, k);

		process->command[process->command_n++] = word ? word : "";
	}
	process->cwd = fact(filler, "cwd");
	process->start_time = time_text(filler, header->start_realtime);
	process->start_ticks = header->boot_pid_start;
	process->duration_ns = header->end ? header->end : header->t;
	process->exit = *(const int *)filler->from;
	return true;
}

static void fill_settings(struct filler *filler, struct trace_environment *environment)
{
	environment->settings =
		filler_room(filler, count_facts(filler, "setting"), sizeof(*environment->settings));
	for (uint32_t i = 0;
	     environment->settings && (i = recording_fact(filler->recording, "setting", i));) {
		uint32_t value = recording_fact(filler->recording, "value", i);

		/* Its value stands right behind it, if it has one. */
		environment->settings[environment->settings_n++] =
			(struct trace_pair){ value_of(filler, i),
					     value == i + 1 ? value_of(filler, value) : NULL };
	}
}

static void fill_cards(struct filler *filler, struct trace_environment *environment)
{
	const struct recording *recording = filler->recording;

	environment->devices = filler_items(filler, count_facts(filler, "device"), ROWS_card);
	for (uint32_t i = 0;
	     environment->devices && (i = recording_fact(recording, "device", i));) {
		struct trace_card *card = &environment->devices[environment->devices_n++];

		card->device = (int)number(value_of(filler, i), UINT64_MAX);
		card->name = value_of(filler, recording_fact(recording, "name", i));
		card->uuid = value_of(filler, recording_fact(recording, "uuid", i));
		card->total_bytes = number(
			value_of(filler, recording_fact(recording, "total_bytes", i)), TRACE_NONE);
	}
}

/* "libcudart.so.13" says 13000: the runtime cannot be asked from a hook, its file's name can be
 * read. */
static uint64_t runtime_version(const struct filler *filler)
{
	static const char name[] = "libcudart.so.";
	uint64_t modules = spool_count(filler->spool, SPOOL_MODULE);

	for (uint32_t i = 0; i < modules; i++) {
		const char *path =
			spool_text(filler->spool, recording_module(filler->recording, i)->path);
		const char *base = path ? text_base(path) : "";

		if (!strncmp(base, name, sizeof(name) - 1))
			return strtoull(base + sizeof(name) - 1, NULL, 10) % 1000 * 1000;
	}
	return 0;
}

static bool fill_environment(struct filler *filler, uint64_t i, void *item)
{
	struct trace_environment *environment = item;

	(void)i;
	environment->memtrace = fact(filler, "memtrace");
	environment->cuda_driver = number(fact(filler, "cuda_driver"), 0);
	environment->cuda_runtime = runtime_version(filler);
	environment->torch = fact(filler, "torch");
	environment->python = fact(filler, "python");
	fill_settings(filler, environment);
	fill_cards(filler, environment);
	return true;
}

const char *document_stop_text(unsigned stop)
{
	switch (stop) {
	case SPOOL_NO_SPACE:
		return "recording stopped early: no space for the spool (full disk, quota or "
		       "ulimit -f)";
	case SPOOL_VANISHED:
		return "recording stopped early: the spool vanished from its directory, or may no "
		       "longer be opened there";
	case SPOOL_TOO_LARGE:
		return "recording stopped early: the spool reached its largest size";
	case SPOOL_NO_FILES:
		return "recording stopped early: no file descriptor was free for the spool to grow";
	case SPOOL_ABANDONED:
		return "recording stopped early: a thread of the program ended inside an update, "
		       "or "
		       "never came back to it";
	case SPOOL_NO_MEMORY:
		return "recording stopped early: no memory for the spool's mapping";
	default:
		return NULL;
	}
}

/* For which there is room. */
static void note(struct filler *filler, struct trace_capture *capture, const char *text)
{
	if (text && capture->notes)
		capture->notes[capture->notes_n++] = filler_text(filler, text);
}

static void note_count(struct filler *filler, struct trace_capture *capture, uint64_t count,
		       const char *what)
{
	char text[256];

	if (!count)
		return;
	text_u64(text, count);
	text_append(text, sizeof(text), what);
	note(filler, capture, text);
}

static void note_torn(struct filler *filler, struct trace_capture *capture)
{
	const struct spool *spool = filler->spool;
	char text[256] = "the process wrote on all the while that its spool was read: sums, lines "
			 "and what is live are of moments up to ";

	if (!spool->torn)
		return;
	text_u64(text + strlen(text), spool->torn_events);
	text_append(text, sizeof(text), " events (");
	text_u64(text + strlen(text), spool->torn_ns / 1000);
	text_append(text, sizeof(text), " us) apart");
	note(filler, capture, text);
}

static void note_sampling(struct filler *filler, struct trace_capture *capture, uint64_t interval)
{
	static const char units[][8] = { " bytes", " KiB", " MiB", " GiB" };
	unsigned unit = 0;
	char text[256] = "sites are estimated from samples of ";

	if (!interval)
		return;
	for (; unit < 3 && interval % 1024 == 0; unit++)
		interval /= 1024;
	text_u64(text + strlen(text), interval);
	text_append(text, sizeof(text), units[unit]);
	text_append(text, sizeof(text),
		    " (MEMTRACE_SAMPLE): sums and peaks are exact; frees have no "
		    "line");
	note(filler, capture, text);
}

static void fill_notes(struct filler *filler, struct trace_capture *capture)
{
	enum { OTHERS = 16 + SPOOL_KINDS };
	const struct spool_header *header = filler->spool->header;

	capture->notes =
		filler_room(filler, count_facts(filler, "note") + OTHERS, sizeof(*capture->notes));
	note(filler, capture, document_stop_text(atomic_load(&header->stop)));
	for (uint32_t i = 0; (i = recording_fact(filler->recording, "note", i));)
		note(filler, capture, value_of(filler, i));
	note_count(filler, capture, atomic_load(&header->nested),
		   " memory calls of signal handlers were not recorded: they had interrupted an "
		   "update");
	note_count(filler, capture, atomic_load(&header->abandoned),
		   " updates were left half done (a signal handler jumped away, or a thread was "
		   "cancelled) and are taken back: those calls are not in the trace");
	if (filler->spool->cut)
		note(filler, capture, "the last update was not complete and is left out");
	note_torn(filler, capture);
	note_count(filler, capture, header->paused,
		   " events while stopped (memtrace_stop): sums kept, no detail");
	note_count(
		filler, capture, header->filtered,
		" events are filtered out (MEMTRACE_FILTER): sums and peaks count them, events[] "
		"and what is told from it do not");
	note_sampling(filler, capture, header->sample);
	note_count(filler, capture, header->unmatched,
		   " frees of addresses that were not seen before");
	note_count(filler, capture, atomic_load(&header->late),
		   " memory calls after recording had ended");
	note_count(filler, capture, header->used_dropped,
		   " samples of what is occupied found no room in used[]: sums have them");
#define BOUND(kind, most, what) note_count(filler, capture, header->left_out[SPOOL_##kind], what);
#include "ledger/bounds.def"
#undef BOUND
	if (filler->recording->damaged)
		note(filler, capture, "parts of the spool were damaged and left out");
}

static void fill_doors(struct filler *filler, struct trace_capture *capture)
{
	static const char doors[][16] = { "linked", "dlsym", "procaddress", "torch" };
	enum { DOORS = sizeof(doors) / sizeof(doors[0]) };

	capture->doors = filler_room(filler, DOORS, sizeof(*capture->doors));
	for (unsigned i = 0; capture->doors && i < DOORS; i++) {
		char count[24];

		text_u64(count, filler->spool->header->doors[i]);
		capture->doors[capture->doors_n++] =
			(struct trace_pair){ doors[i], filler_text(filler, count) };
	}
}

/* All of them, and by kind what was sampled. */
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

static bool fill_capture(struct filler *filler, uint64_t i, void *item)
{
	const struct spool_header *header = filler->spool->header;
	struct trace_capture *capture = item;
	uint64_t dropped = header->dropped < header->seq ? header->dropped : header->seq;
	/* Events that only sums know. */
	uint64_t without = dropped + header->paused + header->filtered;
	const char *stacks = fact(filler, "stacks");
	const char *unwinder = fact(filler, "unwinder");

	(void)i;
	fill_doors(filler, capture);
	capture->stacks = stacks ? stacks : "none";
	capture->unwinder = unwinder ? unwinder : "none";
	capture->events_recorded = header->seq - dropped;
	capture->events_dropped = without;
	if (!journal_since(filler->spool, &capture->events_since))
		capture->events_since = TRACE_NONE;
	capture->events_stopped = header->paused;
	capture->events_filtered = header->filtered;
	capture->sample_bytes = header->sample;
	capture->truncated = without || document_stop_text(atomic_load(&header->stop));
	fill_cost(header->costs, capture);
	fill_notes(filler, capture);
	return true;
}

void document_head(struct filler *filler, enum trace_exit exit)
{
	const int how = (int)exit;

	if (filler->to)
		filler->to->schema = "memtrace/1";
	else
		out_text(filler->writer.out, "{\"schema\":\"memtrace/1\",\n");
	document_member(filler, "process", fill_process, &how);
	document_member(filler, "environment", fill_environment, NULL);
	document_member(filler, "capture", fill_capture, NULL);
}
