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

/* Returns a name such as "function 3" for name[0..length), with the public end `rest` appended. */
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

/* Returns the end of `path` that is the same on all machines, such as "-packages/x.py", or NULL. */
static const char *public_part(const char *path)
{
	static const char *const parts[] = { "-packages/", "/lib/python", "/lib64/python",
					     "<frozen " };

	foreach (part, parts, COUNT_OF(parts)) {
		const char *at = strstr(path, *part);

		if (at)
			return at;
	}
	return NULL;
}

/* Replaces a name. If `path` is of an installed package or framework (place_kind()), the new name
 * begins with "/site-packages/", so that it still does not count as the program's own. */
static const char *hide_at(struct anonymizer *anonymizer, enum hidden kind, const char *path,
			   const char *name)
{
	char word[WORD];

	text_join(word, sizeof(word), place_kind(path) == PLACE_OWN ? "" : "/site-packages/",
		  hide_all(anonymizer, kind, name));
	return need_text(&anonymizer->arena, word);
}

static const char *library(struct anonymizer *anonymizer, const char *path)
{
	const char *base = path ? text_base(path) : NULL;

	if (!path)
		return NULL;
	if (!*path || site_library(base) != SITE_OWN)
		return need_text(&anonymizer->arena, base);
	return hide_at(anonymizer, HIDDEN_LIBRARY, path, base);
}

static const char *file(struct anonymizer *anonymizer, const char *path)
{
	const char *part = place_kind(path) == PLACE_FRAMEWORK ? public_part(path) : NULL;

	return part ? need_text(&anonymizer->arena, part)
		    : hide_at(anonymizer, HIDDEN_FILE, path, path);
}

/* Hides a function's name, but not the words in brackets that trace_backward.c appended. */
static const char *function(struct anonymizer *anonymizer, const char *name)
{
	const char *rest = strstr(name, " [backward]");

	if (!rest)
		rest = strstr(name, " [via backward()]");
	if (!rest)
		rest = name + strlen(name);
	return hide(anonymizer, HIDDEN_FUNCTION, name, (size_t)(rest - name), rest);
}

/* Replaces a phase's name except a number at its end, by which phase_family() recognizes steps. */
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

	foreach (frame, trace->frames) {
		const char *module = trace_module(trace, frame);
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
	foreach (module, trace->modules) {
		module->path = library(anonymizer, module->path);
		module->build_id = NULL;
	}
}

static void summary(struct anonymizer *anonymizer, struct trace *trace)
{
	foreach (device, trace->summary.devices) {
		foreach (part, device->pools)
			part->name = pool(anonymizer, part->name);
		foreach (owner, device->owners)
			owner->name = library(anonymizer, owner->name);
	}
	foreach (peak, trace->peaks)
		peak->pool = pool(anonymizer, peak->pool);
	foreach (curve, trace->timeline)
		curve->pool = pool(anonymizer, curve->pool);
	foreach (stack, trace->stacks)
		stack->owner = library(anonymizer, stack->owner);
	foreach (site, trace->sites)
		site->site = hide_all(anonymizer, HIDDEN_SITE, site->site);
}

/* In records of failed allocations: replaces the names of pools and libraries, and removes the
 * explanations, whose text names call sites and pools. */
static void failures(struct anonymizer *anonymizer, struct trace *trace)
{
	foreach (oom, trace->ooms) {
		oom->text_n = 0;
		oom->advice_n = 0;
		oom->pool = pool(anonymizer, oom->pool);
		foreach (row, oom->pools)
			row->pool = pool(anonymizer, row->pool);
		foreach (row, oom->holders)
			row->holder = row->pool ? pool(anonymizer, row->holder)
						: library(anonymizer, row->holder);
	}
}

static void process(struct trace *trace)
{
	static const char *command[] = { "program" };
	static const char *notes[] = { "the recorder's notes were removed by --anonymize" };

	trace->process.host = "host";
	trace->process.cwd = "/";
	trace->process.command = command;
	trace->process.command_n = 1;
	trace->capture.notes_n = trace->capture.notes_n > 0;
	trace->capture.notes = notes;
	foreach (device, trace->environment.devices)
		device->uuid = NULL;
}

void anonymize_trace(struct anonymizer *anonymizer, struct trace *trace)
{
	process(trace);
	frames(anonymizer, trace);
	summary(anonymizer, trace);
	failures(anonymizer, trace);
	foreach (row, trace->phases) {
		row->name = row->name ? phase(anonymizer, row->name) : NULL;
		row->domain = hide_all(anonymizer, HIDDEN_PHASE, row->domain);
		row->category = hide_all(anonymizer, HIDDEN_PHASE, row->category);
	}
	foreach (action, trace->actions) {
		if (!strcmp(action->kind, "kernel")) /* other actions have names of CUDA */
			action->name = hide_all(anonymizer, HIDDEN_KERNEL, action->name);
	}
	foreach (thread, trace->threads)
		thread->name = hide_all(anonymizer, HIDDEN_THREAD, thread->name);
}

void anonymize_history(struct anonymizer *anonymizer, struct trace *trace,
		       const struct history *history)
{
	size_t count;
	const char **texts = trace_texts(trace, &count);
	const char **other = NEED_ROOM(&anonymizer->arena, other, count);

	/* Replaces all texts, as any may be private; restores those of calls and errors below. */
	for (size_t i = 0; i < count; i++)
		other[i] = phase(anonymizer, texts[i]);
	foreach (place, history->places) {
		uint32_t id = place->pool;

		if (id)
			other[id - 1] = pool(anonymizer, texts[id - 1]);
	}
	foreach (api, history->apis) {
		if (*api)
			other[*api - 1] = texts[*api - 1];
	}
	foreach (event, history->events) {
		if (event->op == EVENT_OOM && event->text)
			other[event->text - 1] = texts[event->text - 1];
	}
	if (count)
		memcpy(texts, other, count * sizeof(*texts));
}

static void side(struct diff_side *side, const char *path)
{
	foreach (run, side->runs, side->count) {
		run->trace.path = path;
		process(&run->trace);
	}
}

void anonymize_diff(struct anonymizer *anonymizer, struct diff *diff)
{
	foreach (row, diff->rows) {
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
	foreach (rank, merge->ranks) {
		rank->path = "trace.json";
		rank->host = hide_all(anonymizer, HIDDEN_HOST, rank->host);
	}
	foreach (card, merge->cards) {
		card->uuid = NULL;
		card->host = hide_all(anonymizer, HIDDEN_HOST, card->host);
	}
	foreach (site, merge->sites) {
		site->file = NULL;
		if (site->name[0] != '[')
			site->name = hide_all(anonymizer, HIDDEN_SITE, site->name);
	}
}

void anonymizer_clear(struct anonymizer *anonymizer)
{
	foreach (row, anonymizer->known, HIDDEN_KINDS)
		texts_clear(row);
	arena_clear(&anonymizer->arena);
	*anonymizer = (struct anonymizer){ 0 };
}
