/*
 * Finds reasons why two runs may not be comparable: another GPU, driver, PyTorch or allocator
 * setting changes sizes and peaks, though no site caused the change.
 */
#include <stdio.h>
#include <string.h>

#include "analyse/compare/diff.h"
#include "analyse/input/grow.h"
#include "base/text/text.h"

enum { VALUE = 160 };

static const char *or_none(const char *text)
{
	return text && text[0] ? text : "none";
}

static void unlike(struct diff *diff, const char *key, const char *base, const char *head)
{
	base = or_none(base);
	head = or_none(head);
	if (!strcmp(base, head))
		return;
	foreach (known, diff->unlike) { /* one entry per key, though several runs may differ */
		if (!strcmp(known->key, key))
			return;
	}
	NEED(GROW(diff->unlike, diff->unlike_n, diff->unlike_size, 16));
	diff->unlike[diff->unlike_n++] = (struct diff_key){
		need_text(&diff->arena, key),
		need_text(&diff->arena, base),
		need_text(&diff->arena, head),
	};
}

static void unlike_number(struct diff *diff, const char *key, uint64_t base, uint64_t head)
{
	char texts[2][VALUE];

	snprintf(texts[0], VALUE, "%llu", (unsigned long long)base);
	snprintf(texts[1], VALUE, "%llu", (unsigned long long)head);
	unlike(diff, key, texts[0], texts[1]);
}

/* Copies a version up to its second number, so that "3.12.3" and "3.12.9" count as equal. */
static void minor(char *to, const char *version)
{
	char *dot;

	text_copy(to, VALUE, or_none(version));
	dot = strchr(to, '.');
	if (dot)
		dot[1 + strcspn(dot + 1, ".")] = '\0';
}

static void compare_cards(struct diff *diff, const struct trace *base, const struct trace *head)
{
	foreach (device, head->summary.devices) {
		int ordinal = device->device;
		const struct trace_card *was = trace_card(base, ordinal);
		const struct trace_card *is = trace_card(head, ordinal);
		char key[40];

		if (!trace_device(base, ordinal) || !was || !is)
			continue;
		snprintf(key, sizeof(key), "device %d", ordinal);
		unlike(diff, key, was->name, is->name);
		snprintf(key, sizeof(key), "device %d total_bytes", ordinal);
		if (was->total_bytes != TRACE_NONE && is->total_bytes != TRACE_NONE)
			unlike_number(diff, key, was->total_bytes, is->total_bytes);
	}
}

/* Writes the numbers of the devices that the run used: "0, 2". */
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

/* Lists the devices of both runs as a difference if the runs have no device in common. */
static void compare_ordinals(struct diff *diff, const struct trace *base, const struct trace *head)
{
	char texts[2][VALUE];

	foreach (device, head->summary.devices) {
		if (trace_device(base, device->device))
			return;
	}
	if (!base->summary.devices_n || !head->summary.devices_n)
		return;
	ordinals(base, texts[0]);
	ordinals(head, texts[1]);
	unlike(diff, "devices", texts[0], texts[1]);
}

static const char *setting(const struct trace *trace, const char *name)
{
	foreach (own, trace->environment.settings) {
		if (!strcmp(own->name, name))
			return own->value;
	}
	return NULL;
}

/* A setting that only one of the traces has was not set in the other run, and is "none" there. */
static void compare_settings(struct diff *diff, const struct trace *base, const struct trace *head)
{
	const struct trace *const both[] = { base, head };

	foreach (side, both, COUNT_OF(both)) {
		foreach (own, (*side)->environment.settings)
			unlike(diff, own->name, setting(base, own->name), setting(head, own->name));
	}
}

static void compare(struct diff *diff, const struct trace *base, const struct trace *head)
{
	const struct trace_environment *was = &base->environment;
	const struct trace_environment *is = &head->environment;
	char pythons[2][VALUE];

	minor(pythons[0], was->python);
	minor(pythons[1], is->python);
	compare_cards(diff, base, head);
	unlike_number(diff, "cuda_driver", was->cuda_driver, is->cuda_driver);
	unlike_number(diff, "cuda_runtime", was->cuda_runtime, is->cuda_runtime);
	unlike(diff, "torch", was->torch, is->torch);
	unlike(diff, "python", pythons[0], pythons[1]);
	compare_settings(diff, base, head);
	unlike_number(diff, "world_size", base->process.world_size, head->process.world_size);
	/* The names of sites depend on the kind of stacks that was recorded (native, Python). */
	unlike(diff, "stacks", base->capture.stacks, head->capture.stacks);
}

void diff_compare_keys(struct diff *diff)
{
	const struct trace *first = &diff->base.runs[0].trace;

	for (size_t i = 1; i < diff->base.count; i++)
		compare(diff, first, &diff->base.runs[i].trace);
	foreach (run, diff->head.runs, diff->head.count)
		compare(diff, first, &run->trace);
	/* Ranks use different devices, so only the devices of the two runs shown are compared. */
	compare_ordinals(diff, &diff_base(diff)->trace, &diff_head(diff)->trace);
}
