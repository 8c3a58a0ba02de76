/* Replaces the private names of a trace. */
#include "analyse/anonymize/anonymize.h"

#include <stdio.h>
#include <string.h>

#include "analyse/compare/diff.h"
#include "analyse/compare/run_totals.h"
#include "analyse/input/grow.h"
#include "analyse/lifetimes/history.h"
#include "analyse/ranks/ranks.h"
#include "analyse/trace/phase_name.h"
#include "analyse/trace/trace.h"
#include "base/text/text.h"
#include "facts/sites.h"

enum { WORD = 160 };

static const char *const words[HIDDEN_KINDS] = {
	[HIDDEN_FUNCTION] = "function", [HIDDEN_FILE] = "file",     [HIDDEN_LIBRARY] = "library",
	[HIDDEN_SITE] = "call site",    [HIDDEN_KERNEL] = "kernel", [HIDDEN_PHASE] = "phase",
	[HIDDEN_POOL] = "pool",         [HIDDEN_THREAD] = "thread", [HIDDEN_HOST] = "host",
};

/* Returns the word for the first `length` bytes of a name, followed by the public `rest`. */
static const char *hide(struct anonymizer *anonymizer, enum hidden kind, const char *name,
			size_t length, const char *rest)
{
	uint32_t id = texts_enter(&anonymizer->known[kind], &anonymizer->arena, name, length);
	char word[WORD];

	NEED(id);
	snprintf(word, sizeof(word), "%s %u%s%s", words[kind], id, kind == HIDDEN_FILE ? ".py" : "",
		 rest);
	return need_text(&anonymizer->arena, word);
}

static const char *hide_all(struct anonymizer *anonymizer, enum hidden kind, const char *name)
{
	return name ? hide(anonymizer, kind, name, strlen(name), "") : NULL;
}

/* --- names that are public --- */

/* The end of a path that is the same on every machine; NULL if there is none. */
static const char *public_part(const char *path)
{
	static const char *const parts[] = { "-packages/", "/lib/python", "/lib64/python",
					     "<frozen " };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const char *at = strstr(path, parts[i]);

		if (at)
			return at;
	}
	return NULL;
}

static const char *library(struct anonymizer *anonymizer, const char *path)
{
	const char *base = path ? text_base(path) : NULL;
	char word[WORD];

	if (!path)
		return NULL;
	if (!*path || site_library(base) != SITE_OWN)
		return need_text(&anonymizer->arena, base);
	text_copy(word, sizeof(word), place_kind(path) == PLACE_OWN ? "" : "/site-packages/");
	text_append(word, sizeof(word), hide_all(anonymizer, HIDDEN_LIBRARY, base));
	return need_text(&anonymizer->arena, word);
}

static const char *file(struct anonymizer *anonymizer, const char *path)
{
	enum place_kind kind = place_kind(path);
	const char *part = public_part(path);
	char word[WORD];

	if (kind == PLACE_FRAMEWORK && part)
		return need_text(&anonymizer->arena, part);
	text_copy(word, sizeof(word), kind == PLACE_OWN ? "" : "/site-packages/");
	text_append(word, sizeof(word), hide_all(anonymizer, HIDDEN_FILE, path));
	return need_text(&anonymizer->arena, word);
}

/* Hides a function's name, but not the end " [backward]" that trace_backward.c added. */
static const char *function(struct anonymizer *anonymizer, const char *name)
{
	const char *rest = strstr(name, " [backward]");

	if (!rest)
		rest = strstr(name, " [via backward()]");
	if (!rest)
		rest = name + strlen(name);
	return hide(anonymizer, HIDDEN_FUNCTION, name, (size_t)(rest - name), rest);
}

/* Hides a phase's name except for a number at its end ("step 3"): steps must stay one family. */
static const char *phase(struct anonymizer *anonymizer, const char *name)
{
	size_t length = phase_stem(name);
	const char *rest = name + length;

	return hide(anonymizer, HIDDEN_PHASE, name, length,
		    rest[strspn(rest, PHASE_MARKS "#0123456789")] ? "" : rest);
}

static const char *pool(struct anonymizer *anonymizer, const char *name)
{
	if (!name || !strcmp(name, "torch") || !strcmp(name, "graph") ||
	    !strncmp(name, "async:", 6))
		return name;
	return hide_all(anonymizer, HIDDEN_POOL, name);
}

/* --- a trace --- */

static void frames(struct anonymizer *anonymizer, struct trace *trace)
{
	char shorter[WORD];

	for (size_t i = 0; i < trace->frames_n; i++) {
		struct trace_frame *frame = &trace->frames[i];
		const char *module =
			frame->module == UINT32_MAX ? NULL : trace->modules[frame->module].path;
		bool known = frame->language == TRACE_PYTHON
				     ? frame->file && place_kind(frame->file) == PLACE_FRAMEWORK
				     : module && site_library(text_base(module)) != SITE_OWN;

		frame->symbol = NULL;
		if (frame->file)
			frame->file = file(anonymizer, frame->file);
		if (!frame->function || trace_frame_named(frame))
			continue;
		if (!known) {
			frame->function = function(anonymizer, frame->function);
		} else if (frame->language == TRACE_NATIVE) {
			/* Template arguments are left out: they may be the program's own types. */
			names_short(frame->function, shorter, sizeof(shorter));
			frame->function = need_text(&anonymizer->arena, shorter);
		}
	}
	for (size_t i = 0; i < trace->modules_n; i++) {
		struct trace_module *module = &trace->modules[i];

		module->path = library(anonymizer, module->path);
		module->build_id = NULL;
	}
}

static void summary(struct anonymizer *anonymizer, struct trace *trace)
{
	for (size_t i = 0; i < trace->summary.devices_n; i++) {
		struct trace_device *device = &trace->summary.devices[i];

		for (size_t k = 0; k < device->pools_n; k++)
			device->pools[k].name = pool(anonymizer, device->pools[k].name);
		for (size_t k = 0; k < device->owners_n; k++)
			device->owners[k].name = library(anonymizer, device->owners[k].name);
	}
	for (size_t i = 0; i < trace->peaks_n; i++)
		trace->peaks[i].pool = pool(anonymizer, trace->peaks[i].pool);
	for (size_t i = 0; i < trace->timeline_n; i++)
		trace->timeline[i].pool = pool(anonymizer, trace->timeline[i].pool);
	for (size_t i = 0; i < trace->stacks_n; i++)
		trace->stacks[i].owner = library(anonymizer, trace->stacks[i].owner);
	for (size_t i = 0; i < trace->sites_n; i++)
		trace->sites[i].site = hide_all(anonymizer, HIDDEN_SITE, trace->sites[i].site);
}

/* Hides pools and holders; drops the explanations in words, which name call sites and pools. */
static void failures(struct anonymizer *anonymizer, struct trace *trace)
{
	for (size_t i = 0; i < trace->ooms_n; i++) {
		struct trace_oom *oom = &trace->ooms[i];

		oom->text_n = 0;
		oom->advice_n = 0;
		oom->pool = pool(anonymizer, oom->pool);
		for (size_t k = 0; k < oom->pools_n; k++)
			oom->pools[k].pool = pool(anonymizer, oom->pools[k].pool);
		for (size_t k = 0; k < oom->holders_n; k++) {
			struct trace_oom_holder *row = &oom->holders[k];

			row->holder = row->pool ? pool(anonymizer, row->holder)
						: library(anonymizer, row->holder);
		}
	}
}

static void process(struct trace *trace)
{
	static const char *command[] = { "program" };
	static const char *notes[] = { "the recorder's notes are not shown here" };

	trace->process.host = "host";
	trace->process.cwd = "/";
	trace->process.command = command;
	trace->process.command_n = 1;
	trace->capture.notes_n = trace->capture.notes_n > 0;
	trace->capture.notes = notes;
	for (size_t i = 0; i < trace->environment.devices_n; i++)
		trace->environment.devices[i].uuid = NULL;
}

void anonymize_trace(struct anonymizer *anonymizer, struct trace *trace)
{
	process(trace);
	frames(anonymizer, trace);
	summary(anonymizer, trace);
	failures(anonymizer, trace);
	for (size_t i = 0; i < trace->phases_n; i++) {
		trace->phases[i].name =
			trace->phases[i].name ? phase(anonymizer, trace->phases[i].name) : NULL;
		trace->phases[i].domain =
			hide_all(anonymizer, HIDDEN_PHASE, trace->phases[i].domain);
		trace->phases[i].category =
			hide_all(anonymizer, HIDDEN_PHASE, trace->phases[i].category);
	}
	for (size_t i = 0; i < trace->actions_n; i++) {
		struct trace_action *action = &trace->actions[i];

		if (!strcmp(action->kind, "kernel")) /* other kinds have CUDA's own names */
			action->name = hide_all(anonymizer, HIDDEN_KERNEL, action->name);
	}
	for (size_t i = 0; i < trace->threads_n; i++)
		trace->threads[i].name =
			hide_all(anonymizer, HIDDEN_THREAD, trace->threads[i].name);
}

void anonymize_history(struct anonymizer *anonymizer, struct trace *trace,
		       const struct history *history)
{
	size_t count;
	const char **texts = trace_texts(trace, &count); /* the id of a text is its position + 1 */
	const char **other = need(&anonymizer->arena, (count + 1) * sizeof(*other));

	/* Any text that is not a call's name or an error may be a private name. */
	for (size_t i = 0; i < count; i++)
		other[i] = phase(anonymizer, texts[i]);
	for (size_t i = 0; i < history->places_n; i++) {
		uint32_t id = history->places[i].pool;

		if (id)
			other[id - 1] = pool(anonymizer, texts[id - 1]);
	}
	for (size_t i = 0; i < history->apis_n; i++) {
		if (history->apis[i])
			other[history->apis[i] - 1] = texts[history->apis[i] - 1];
	}
	for (size_t i = 0; i < history->events_n; i++) {
		const struct history_event *event = &history->events[i];

		if (event->op == EVENT_OOM && event->text)
			other[event->text - 1] = texts[event->text - 1];
	}
	if (count)
		memcpy(texts, other, count * sizeof(*texts));
}

static void side(struct diff_side *side, const char *path)
{
	for (size_t i = 0; i < side->count; i++) {
		side->runs[i].trace.path = path;
		process(&side->runs[i].trace);
	}
}

void anonymize_diff(struct anonymizer *anonymizer, struct diff *diff)
{
	for (size_t i = 0; i < diff->rows_n; i++) {
		struct diff_row *row = &diff->rows[i];

		row->file = NULL;
		if (row->dimension == DIMENSION_SITE && row->name[0] != '[')
			row->name = hide_all(anonymizer, HIDDEN_SITE, row->name);
		else if (row->dimension == DIMENSION_POOL)
			row->name = pool(anonymizer, row->name);
		else if (row->dimension == DIMENSION_OWNER)
			row->name = library(anonymizer, row->name);
		else if (row->dimension == DIMENSION_PHASE)
			row->name = phase(anonymizer, row->name);
	}
	side(&diff->base, "base.json");
	side(&diff->head, "head.json");
}

void anonymize_merge(struct anonymizer *anonymizer, struct merge *merge)
{
	for (size_t i = 0; i < merge->ranks_n; i++) {
		merge->ranks[i].path = "trace.json";
		merge->ranks[i].host = hide_all(anonymizer, HIDDEN_HOST, merge->ranks[i].host);
	}
	for (size_t i = 0; i < merge->cards_n; i++) {
		merge->cards[i].uuid = NULL;
		merge->cards[i].host = hide_all(anonymizer, HIDDEN_HOST, merge->cards[i].host);
	}
	for (size_t i = 0; i < merge->sites_n; i++) {
		struct merge_site *site = &merge->sites[i];

		site->file = NULL;
		if (site->name[0] != '[')
			site->name = hide_all(anonymizer, HIDDEN_SITE, site->name);
	}
}

void anonymizer_clear(struct anonymizer *anonymizer)
{
	for (size_t i = 0; i < HIDDEN_KINDS; i++)
		texts_clear(&anonymizer->known[i]);
	arena_clear(&anonymizer->arena);
	*anonymizer = (struct anonymizer){ 0 };
}
