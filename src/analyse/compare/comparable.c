/*
 * Are two runs alike enough to be compared? A card, a driver, a PyTorch or settings of the
 * allocator that differ change sizes and peaks by themselves, and no site would be to blame.
 */
#include <stdio.h>
#include <string.h>

#include "analyse/compare/diff.h"
#include "analyse/input/error.h"
#include "base/text/text.h"

enum { VALUE = 160 };

static int unlike(struct diff *diff, const char *key, const char *base, const char *head)
{
	struct diff_key *grown;

	if (!strcmp(base, head))
		return 0;
	for (size_t i = 0; i < diff->unlike_n; i++) { /* of several runs a side the first will do */
		if (!strcmp(diff->unlike[i].key, key))
			return 0;
	}
	grown = arena_alloc(&diff->arena, (diff->unlike_n + 1) * sizeof(*grown));
	if (!grown)
		return err("no memory left");
	if (diff->unlike_n)
		memcpy(grown, diff->unlike, diff->unlike_n * sizeof(*grown));
	diff->unlike = grown;
	grown[diff->unlike_n] = (struct diff_key){
		arena_text(&diff->arena, key, strlen(key)),
		arena_text(&diff->arena, base, strlen(base)),
		arena_text(&diff->arena, head, strlen(head)),
	};
	if (!grown[diff->unlike_n].key || !grown[diff->unlike_n].base ||
	    !grown[diff->unlike_n].head)
		return err("no memory left");
	diff->unlike_n++;
	return 0;
}

static const char *or_none(const char *text)
{
	return text && text[0] ? text : "none";
}

static int unlike_number(struct diff *diff, const char *key, uint64_t base, uint64_t head)
{
	char texts[2][VALUE];

	snprintf(texts[0], VALUE, "%llu", (unsigned long long)base);
	snprintf(texts[1], VALUE, "%llu", (unsigned long long)head);
	return unlike(diff, key, texts[0], texts[1]);
}

/* "3.12.3" and "3.12.9" run the same code. */
static void minor(char *to, const char *version)
{
	char *dot;

	text_copy(to, VALUE, or_none(version));
	dot = strchr(to, '.');
	if (dot)
		dot[1 + strcspn(dot + 1, ".")] = '\0';
}

static const struct trace_card *card_of(const struct trace *trace, int device)
{
	for (size_t i = 0; i < trace->environment.devices_n; i++) {
		if (trace->environment.devices[i].device == device)
			return &trace->environment.devices[i];
	}
	return NULL;
}

/* The cards that both used. */
static int compare_cards(struct diff *diff, const struct trace *base, const struct trace *head)
{
	int error = 0;

	for (size_t i = 0; !error && i < head->summary.devices_n; i++) {
		int ordinal = head->summary.devices[i].device;
		const struct trace_card *was = card_of(base, ordinal);
		const struct trace_card *is = card_of(head, ordinal);
		char key[40];

		if (!trace_device(base, ordinal) || !was || !is)
			continue;
		snprintf(key, sizeof(key), "device %d", ordinal);
		error = unlike(diff, key, or_none(was->name), or_none(is->name));
		snprintf(key, sizeof(key), "device %d total_bytes", ordinal);
		if (!error && was->total_bytes != TRACE_NONE && is->total_bytes != TRACE_NONE)
			error = unlike_number(diff, key, was->total_bytes, is->total_bytes);
	}
	return error;
}

/* "0, 2": the devices that were used. */
static void ordinals(const struct trace *trace, char *to)
{
	text_copy(to, VALUE, "");
	for (size_t i = 0; i < trace->summary.devices_n; i++) {
		char ordinal[16];

		snprintf(ordinal, sizeof(ordinal), "%s%d", i ? ", " : "",
			 trace->summary.devices[i].device);
		text_append(to, VALUE, ordinal);
	}
}

/* Device by device nothing is left to compare where the runs had no device in common. */
static int compare_ordinals(struct diff *diff, const struct trace *base, const struct trace *head)
{
	char texts[2][VALUE];

	for (size_t i = 0; i < head->summary.devices_n; i++) {
		if (trace_device(base, head->summary.devices[i].device))
			return 0;
	}
	if (!base->summary.devices_n || !head->summary.devices_n)
		return 0;
	ordinals(base, texts[0]);
	ordinals(head, texts[1]);
	return unlike(diff, "devices", texts[0], texts[1]);
}

static const char *setting(const struct trace *trace, const char *name)
{
	for (size_t i = 0; i < trace->environment.settings_n; i++) {
		if (!strcmp(trace->environment.settings[i].name, name))
			return trace->environment.settings[i].value;
	}
	return NULL;
}

/* A setting that only one of them tells was not set in the other. */
static int compare_settings(struct diff *diff, const struct trace *base, const struct trace *head)
{
	const struct trace *const both[] = { base, head };
	int error = 0;

	for (size_t i = 0; i < 2; i++) {
		for (size_t k = 0; !error && k < both[i]->environment.settings_n; k++) {
			const char *name = both[i]->environment.settings[k].name;

			error = unlike(diff, name, or_none(setting(base, name)),
				       or_none(setting(head, name)));
		}
	}
	return error;
}

static int compare(struct diff *diff, const struct trace *base, const struct trace *head)
{
	const struct trace_environment *was = &base->environment;
	const struct trace_environment *is = &head->environment;
	char pythons[2][VALUE];
	int error = compare_cards(diff, base, head);

	minor(pythons[0], was->python);
	minor(pythons[1], is->python);
	if (!error)
		error = unlike_number(diff, "cuda_driver", was->cuda_driver, is->cuda_driver);
	if (!error)
		error = unlike_number(diff, "cuda_runtime", was->cuda_runtime, is->cuda_runtime);
	if (!error)
		error = unlike(diff, "torch", or_none(was->torch), or_none(is->torch));
	if (!error)
		error = unlike(diff, "python", pythons[0], pythons[1]);
	if (!error)
		error = compare_settings(diff, base, head);
	if (!error)
		error = unlike_number(diff, "world_size", base->process.world_size,
				      head->process.world_size);
	/* Stacks of another kind give sites of another kind. */
	if (!error)
		error = unlike(diff, "stacks", or_none(base->capture.stacks),
			       or_none(head->capture.stacks));
	return error;
}

int diff_compare_keys(struct diff *diff)
{
	const struct trace *first = &diff->base.runs[0].trace;
	int error = 0;

	for (size_t i = 1; !error && i < diff->base.count; i++)
		error = compare(diff, first, &diff->base.runs[i].trace);
	for (size_t i = 0; !error && i < diff->head.count; i++)
		error = compare(diff, first, &diff->head.runs[i].trace);
	/* Ranks have a device each: the pair that is shown. */
	return error ? error
		     : compare_ordinals(diff, &diff_base(diff)->trace, &diff_head(diff)->trace);
}
