/* The document's first sections: whose trace it is, and how it was taken. */
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
#include "render/document/document.h"
#include "render/document/document_sections.h"
#include "spool/journal.h"

static const char *fact(const struct recording *recording, const char *key)
{
	return recording_value(recording, recording_fact(recording, key, 0));
}

/* A fact that is a number, else null. */
static void number(struct out *out, const char *text)
{
	if (text && *text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 19)
		out_u64(out, strtoull(text, NULL, 10));
	else
		out_text(out, "null");
}

static void two_digits(struct out *out, uint64_t value)
{
	out_char(out, (char)('0' + value / 10 % 10));
	out_char(out, (char)('0' + value % 10));
}

/* RFC 3339 in UTC; the civil date from days (Howard Hinnant, "chrono-compatible algorithms"). */
static void write_time(struct out *out, uint64_t ns)
{
	uint64_t seconds = ns / 1000000000u;
	uint64_t days = seconds / 86400 + 719468;
	uint64_t era = days / 146097;
	uint64_t doe = days % 146097;
	uint64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	uint64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	uint64_t mp = (5 * doy + 2) / 153;
	uint64_t month = mp < 10 ? mp + 3 : mp - 9;
	char fraction[24];

	out_char(out, '"');
	out_u64(out, yoe + era * 400 + (month <= 2));
	out_char(out, '-');
	two_digits(out, month);
	out_char(out, '-');
	two_digits(out, doy - (153 * mp + 2) / 5 + 1);
	out_char(out, 'T');
	two_digits(out, seconds / 3600 % 24);
	out_char(out, ':');
	two_digits(out, seconds / 60 % 60);
	out_char(out, ':');
	two_digits(out, seconds % 60);
	text_u64(fraction, 1000000000u + ns % 1000000000u); /* the leading 1 keeps the zeros */
	fraction[0] = '.';
	out_text(out, fraction);
	out_text(out, "Z\"");
}

static void write_command(struct out *out, const struct recording *recording)
{
	const char *comma = "";

	out_text(out, ",\"command\":[");
	for (uint32_t i = 0; (i = recording_fact(recording, "command", i));) {
		const char *word = recording_value(recording, i);

		out_text(out, comma);
		out_json(out, word ? word : "");
		comma = ",";
	}
	out_char(out, ']');
}

static void write_process(struct out *out, const struct recording *recording, const char *exit)
{
	const struct spool_header *header = recording->spool->header;
	const char *rank = fact(recording, "rank");
	const char *world = fact(recording, "world_size");
	const char *local = fact(recording, "local_rank");

	out_text(out, "\"process\":{\"pid\":");
	out_u64(out, header->pid);
	out_text(out, ",\"ppid\":");
	out_u64(out, header->ppid);
	out_text(out, ",\"host\":");
	out_json(out, fact(recording, "host"));
	out_text(out, ",\"rank\":");
	number(out, rank ? rank : "0");
	out_text(out, ",\"world_size\":");
	number(out, world ? world : "1");
	if (local) {
		out_text(out, ",\"local_rank\":");
		number(out, local);
	}
	write_command(out, recording);
	out_text(out, ",\"cwd\":");
	out_json(out, fact(recording, "cwd"));
	out_text(out, ",\"start_time\":");
	write_time(out, header->start_realtime);
	if (header->boot_pid_start) {
		out_text(out, ",\"start_ticks\":");
		out_u64(out, header->boot_pid_start);
	}
	out_text(out, ",\"duration_ns\":");
	out_u64(out, header->end ? header->end : header->t);
	out_text(out, ",\"exit\":");
	out_json(out, exit);
	out_text(out, "},\n");
}

static void write_settings(struct out *out, const struct recording *recording)
{
	const char *comma = "";

	out_text(out, ",\"settings\":{");
	for (uint32_t i = 0; (i = recording_fact(recording, "setting", i));) {
		const char *name = recording_value(recording, i);
		uint32_t value = recording_fact(recording, "value", i);

		out_text(out, comma);
		out_json(out, name ? name : "");
		out_char(out, ':');
		/* Its value stands right behind it, if it has one. */
		out_json(out, value == i + 1 ? recording_value(recording, value) : NULL);
		comma = ",";
	}
	out_char(out, '}');
}

static void write_devices(struct out *out, const struct recording *recording)
{
	const char *comma = "";

	out_text(out, ",\"devices\":[");
	for (uint32_t i = 0; (i = recording_fact(recording, "device", i));) {
		out_text(out, comma);
		out_text(out, "{\"device\":");
		number(out, recording_value(recording, i));
		out_text(out, ",\"name\":");
		out_json(out, recording_value(recording, recording_fact(recording, "name", i)));
		out_text(out, ",\"uuid\":");
		out_json(out, recording_value(recording, recording_fact(recording, "uuid", i)));
		out_text(out, ",\"total_bytes\":");
		number(out,
		       recording_value(recording, recording_fact(recording, "total_bytes", i)));
		out_char(out, '}');
		comma = ",";
	}
	out_char(out, ']');
}

/* "libcudart.so.13" says 13000: the runtime cannot be asked from a hook, its file's name can be
 * read. */
static void write_runtime(struct out *out, const struct recording *recording)
{
	static const char name[] = "libcudart.so.";
	uint64_t modules = spool_count(recording->spool, SPOOL_MODULE);

	for (uint32_t i = 0; i < modules; i++) {
		const char *path =
			spool_text(recording->spool, recording_module(recording, i)->path);
		const char *base = path ? text_base(path) : "";

		if (!strncmp(base, name, sizeof(name) - 1)) {
			out_u64(out, strtoull(base + sizeof(name) - 1, NULL, 10) % 1000 * 1000);
			return;
		}
	}
	out_text(out, "null");
}

static void write_environment(struct out *out, const struct recording *recording)
{
	out_text(out, "\"environment\":{\"memtrace\":");
	out_json(out, fact(recording, "memtrace"));
	out_text(out, ",\"cuda_driver\":");
	number(out, fact(recording, "cuda_driver"));
	out_text(out, ",\"cuda_runtime\":");
	write_runtime(out, recording);
	out_text(out, ",\"torch\":");
	out_json(out, fact(recording, "torch"));
	out_text(out, ",\"python\":");
	out_json(out, fact(recording, "python"));
	write_settings(out, recording);
	write_devices(out, recording);
	out_text(out, "},\n");
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

static void note(struct out *out, const char **comma, const char *text)
{
	if (!text)
		return;
	out_text(out, *comma);
	out_json(out, text);
	*comma = ",";
}

static void note_count(struct out *out, const char **comma, uint64_t count, const char *what)
{
	char text[256];

	if (!count)
		return;
	text_u64(text, count);
	text_append(text, sizeof(text), what);
	note(out, comma, text);
}

static void note_torn(struct out *out, const char **comma, const struct spool *spool)
{
	char text[256] = "the process wrote on all the while that its spool was read: sums, lines "
			 "and what is live are of moments up to ";

	if (!spool->torn)
		return;
	text_u64(text + strlen(text), spool->torn_events);
	text_append(text, sizeof(text), " events (");
	text_u64(text + strlen(text), spool->torn_ns / 1000);
	text_append(text, sizeof(text), " us) apart");
	note(out, comma, text);
}

static void note_sampling(struct out *out, const char **comma, uint64_t interval)
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
	note(out, comma, text);
}

static void write_notes(struct out *out, const struct recording *recording)
{
	const struct spool_header *header = recording->spool->header;
	const char *comma = "";

	out_text(out, ",\"notes\":[");
	note(out, &comma, document_stop_text(atomic_load(&header->stop)));
	for (uint32_t i = 0; (i = recording_fact(recording, "note", i));)
		note(out, &comma, recording_value(recording, i));
	note_count(out, &comma, atomic_load(&header->nested),
		   " memory calls of signal handlers were not recorded: they had interrupted an "
		   "update");
	note_count(out, &comma, atomic_load(&header->abandoned),
		   " updates were left half done (a signal handler jumped away, or a thread was "
		   "cancelled) and are taken back: those calls are not in the trace");
	if (recording->spool->cut)
		note(out, &comma, "the last update was not complete and is left out");
	note_torn(out, &comma, recording->spool);
	note_count(out, &comma, header->paused,
		   " events while stopped (memtrace_stop): sums kept, no detail");
	note_count(
		out, &comma, header->filtered,
		" events are filtered out (MEMTRACE_FILTER): sums and peaks count them, events[] "
		"and what is told from it do not");
	note_sampling(out, &comma, header->sample);
	note_count(out, &comma, header->unmatched, " frees of addresses that were not seen before");
	note_count(out, &comma, atomic_load(&header->late),
		   " memory calls after recording had ended");
	note_count(out, &comma, header->used_dropped,
		   " samples of what is occupied found no room in used[]: sums have them");
#define BOUND(kind, most, what) note_count(out, &comma, header->left_out[SPOOL_##kind], what);
#include "ledger/bounds.def"
#undef BOUND
	if (recording->damaged)
		note(out, &comma, "parts of the spool were damaged and left out");
	out_char(out, ']');
}

/* All of them, and by kind what was sampled. */
static void write_cost(struct out *out, const struct spool_cost *costs)
{
	static const char kinds[SPOOL_COSTS][8] = { "driver", "block", "range" };
	struct spool_cost all = { 0 };
	bool comma = false;

	for (unsigned i = 0; i < SPOOL_COSTS; i++) {
		all.ns += costs[i].ns;
		all.events += costs[i].events;
	}
	out_text(out, ",\"ns_per_event\":");
	out_u64(out, all.events ? all.ns / all.events : 0);
	out_text(out, ",\"cost\":{");
	for (unsigned i = 0; i < SPOOL_COSTS; i++) {
		if (!costs[i].events)
			continue;
		out_text(out, comma ? ",\"" : "\"");
		out_text(out, kinds[i]);
		out_text(out, "\":{\"ns_per_event\":");
		out_u64(out, costs[i].ns / costs[i].events);
		out_text(out, ",\"samples\":");
		out_u64(out, costs[i].events);
		out_char(out, '}');
		comma = true;
	}
	out_char(out, '}');
}

static void write_capture(struct out *out, const struct recording *recording)
{
	static const char doors[][16] = { "linked", "dlsym", "procaddress", "torch" };
	const struct spool_header *header = recording->spool->header;
	uint64_t dropped = header->dropped < header->seq ? header->dropped : header->seq;
	/* Events that only sums know. */
	uint64_t without = dropped + header->paused + header->filtered;
	const char *stacks = fact(recording, "stacks");
	const char *unwinder = fact(recording, "unwinder");
	uint64_t since;

	out_text(out, "\"capture\":{\"doors\":{");
	for (unsigned i = 0; i < sizeof(doors) / sizeof(doors[0]); i++) {
		out_text(out, i ? ",\"" : "\"");
		out_text(out, doors[i]);
		out_text(out, "\":");
		out_u64(out, header->doors[i]);
	}
	out_text(out, "},\"stacks\":");
	out_json(out, stacks ? stacks : "none");
	out_text(out, ",\"unwinder\":");
	out_json(out, unwinder ? unwinder : "none");
	out_text(out, ",\"events_recorded\":");
	out_u64(out, header->seq - dropped);
	out_text(out, ",\"events_dropped\":");
	out_u64(out, without);
	out_text(out, ",\"events_since\":");
	if (journal_since(recording->spool, &since))
		out_u64(out, since);
	else
		out_text(out, "null");
	if (header->paused) {
		out_text(out, ",\"events_stopped\":");
		out_u64(out, header->paused);
	}
	if (header->filtered) {
		out_text(out, ",\"events_filtered\":");
		out_u64(out, header->filtered);
	}
	if (header->sample) {
		out_text(out, ",\"sample_bytes\":");
		out_u64(out, header->sample);
	}
	out_text(out, ",\"truncated\":");
	out_text(out, without || document_stop_text(atomic_load(&header->stop)) ? "true" : "false");
	write_cost(out, header->costs);
	write_notes(out, recording);
	out_text(out, "},\n");
}

void document_head(struct out *out, const struct recording *recording, const char *exit)
{
	out_text(out, "{\"schema\":\"memtrace/1\",\n");
	write_process(out, recording, exit);
	write_environment(out, recording);
	write_capture(out, recording);
}
