/* What a report says, before it is said. */
#include "render/report/report_facts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/trace/trace.h"
#include "base/text/text.h"
#include "render/emit/term.h"

/* --- a peak by site --- */

/* Stacks of one site have one key; a stack without a site stands alone. */
static uint64_t group_key(const struct trace *trace, uint32_t stack)
{
	uint32_t site = trace->site_of[stack];

	return site == UINT32_MAX ? (uint64_t)1 << 32 | stack : site;
}

static int by_site(const void *a, const void *b, void *of)
{
	const struct trace *trace = of;
	const struct trace_share *x = a;
	const struct trace_share *y = b;
	uint64_t left = group_key(trace, x->stack);
	uint64_t right = group_key(trace, y->stack);

	if (left != right)
		return left < right ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

static int compare_facts(const void *a, const void *b)
{
	const struct report_group *x = a;
	const struct report_group *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->shares < y->shares ? -1 : x->shares > y->shares;
}

int report_groups_of(struct report_groups *groups, const struct trace *trace,
		     const struct trace_peak *peak)
{
	size_t n = peak ? peak->stacks_n : 0;
	struct report_group *group = NULL;

	*groups = (struct report_groups){ 0 };
	groups->shares = calloc(n + 1, sizeof(*groups->shares));
	groups->list = calloc(n + 1, sizeof(*groups->list));
	if (!groups->shares || !groups->list) {
		report_groups_clear(groups);
		return err("no memory left");
	}
	if (n)
		memcpy(groups->shares, peak->stacks, n * sizeof(*groups->shares));
	qsort_r(groups->shares, n, sizeof(*groups->shares), by_site, (void *)trace);
	for (size_t i = 0; i < n; i++) {
		const struct trace_share *share = &groups->shares[i];
		uint32_t site = trace->site_of[share->stack];

		if (!group ||
		    group_key(trace, group->shares->stack) != group_key(trace, share->stack)) {
			group = &groups->list[groups->count++];
			group->shares = share;
			group->name = site == UINT32_MAX ? NULL : trace->sites[site].site;
		}
		group->bytes += share->bytes;
		group->count += share->count;
		group->shares_n++;
	}
	qsort(groups->list, groups->count, sizeof(*groups->list), compare_facts);
	return 0;
}

void report_groups_clear(struct report_groups *groups)
{
	free(groups->list);
	free(groups->shares);
	*groups = (struct report_groups){ 0 };
}

/* --- what is left --- */

static int by_live(const void *a, const void *b, void *of)
{
	const struct trace *trace = of;
	uint32_t x = *(const uint32_t *)a;
	uint32_t y = *(const uint32_t *)b;
	uint64_t left = trace->sites[x].live_bytes;
	uint64_t right = trace->sites[y].live_bytes;

	if (left != right)
		return left > right ? -1 : 1;
	return x < y ? -1 : x > y;
}

uint32_t *report_live(const struct trace *trace, size_t *count, uint64_t *bytes)
{
	uint32_t *sites = calloc(trace->sites_n + 1, sizeof(*sites));

	*count = 0;
	*bytes = 0;
	if (!sites) {
		err("no memory left");
		return NULL;
	}
	for (size_t i = 0; i < trace->sites_n; i++) {
		if (!trace->sites[i].live_bytes)
			continue;
		sites[(*count)++] = (uint32_t)i;
		*bytes += trace->sites[i].live_bytes;
	}
	qsort_r(sites, *count, sizeof(*sites), by_live, (void *)trace);
	return sites;
}

/* --- the answer --- */

static uint64_t known_bytes(uint64_t bytes)
{
	return bytes == TRACE_NONE ? 0 : bytes;
}

const struct trace_device *report_worst(const struct trace *trace, int wanted)
{
	const struct trace_device *worst = NULL;

	for (size_t i = 0; i < trace->summary.devices_n; i++) {
		const struct trace_device *device = &trace->summary.devices[i];

		if (wanted != NO_DEVICE && device->device != wanted)
			continue;
		if (!worst || known_bytes(device->allocated.peak_bytes) >
				      known_bytes(worst->allocated.peak_bytes))
			worst = device;
	}
	return worst;
}

uint64_t report_reserved_at_peak(const struct trace *trace, const struct trace_device *device)
{
	const struct trace_curve *curve = trace_curve(trace, device->device, NULL);
	uint64_t t = device->allocated.peak_t;

	if (!curve || t == TRACE_NONE ||
	    trace_curve_at(curve, curve->allocated, t) != device->allocated.peak_bytes)
		return TRACE_NONE;
	return trace_curve_at(curve, curve->reserved, t);
}

static void device_text(const struct trace_device *device, char *to, size_t size)
{
	size_t used = (size_t)snprintf(to, size, "device %d", device->device);

	if (!device->name && device->total_bytes == TRACE_NONE)
		return;
	if (device->total_bytes == TRACE_NONE)
		snprintf(to + used, size - used, " (%s)", device->name);
	else
		snprintf(to + used, size - used, " (%s%s%s)", device->name ? device->name : "",
			 device->name ? ", " : "", SAY_BYTES(device->total_bytes));
}

void report_line_text(const struct trace *trace, uint32_t stack, char *to, size_t size)
{
	uint32_t line = trace_line(trace, stack);

	if (line != UINT32_MAX)
		trace_frame_text(trace, line, to, size);
	else if (stack < trace->stacks_n && trace->site_of[stack] != UINT32_MAX)
		text_copy(to, size, trace->sites[trace->site_of[stack]].site);
	else
		text_copy(to, size, "an unknown place");
}

/* Nothing on any device: say what there was instead. */
static int no_device_text(const struct trace *trace, int wanted, char *to, size_t size)
{
	const struct trace_space *most = NULL;

	for (size_t i = 0; i < trace->summary.spaces_n; i++) {
		const struct trace_space *space = &trace->summary.spaces[i];

		if (known_bytes(space->allocated.peak_bytes) >
		    (most ? most->allocated.peak_bytes : 0))
			most = space;
	}
	if (wanted != NO_DEVICE)
		snprintf(to, size, "No memory of device %d was allocated.", wanted);
	else if (most)
		snprintf(to, size, "No device memory was allocated; %s memory reached %s.",
			 most->space ? most->space : "other",
			 SAY_BYTES(most->allocated.peak_bytes));
	else
		text_copy(to, size, "No GPU memory was allocated.");
	return 0;
}

/* "; most of it 812.00 MiB from Linear.forward (linear.py), called by Net.forward (net.py:12)" */
static int add_culprit(const struct trace *trace, const struct trace_device *device, char *to,
		       size_t size)
{
	const struct trace_peak *peak = trace_peak(trace, device->device, NULL, TRACE_ALLOCATED);
	struct report_groups groups;
	char line[300];
	size_t used = strlen(to);
	int error = report_groups_of(&groups, trace, peak);

	if (error)
		return error;
	if (groups.count && groups.list[0].bytes) {
		const struct report_group *first = &groups.list[0];
		/* A library's doing is not that of the line which called it. */
		const char *from = first->name ? strstr(first->name, " from ") : NULL;

		report_line_text(trace, first->shares[0].stack, line, sizeof(line));
		snprintf(to + used, size - used, "; %s %s from %.*s%s%s",
			 first->bytes >= peak->bytes - first->bytes ? "most of it"
								    : "the largest part",
			 SAY_BYTES(first->bytes), from ? (int)(from - first->name) : 0,
			 from ? first->name : "", from ? ", called by " : "", line);
	}
	report_groups_clear(&groups);
	text_append(to, size, ".");
	return 0;
}

int report_answer(const struct trace *trace, int wanted, char *to, size_t size)
{
	const struct trace_device *device = report_worst(trace, wanted);
	char where[300];
	uint64_t bytes;

	if (!device || (!known_bytes(device->allocated.peak_bytes) &&
			!known_bytes(device->reserved.peak_bytes)))
		return no_device_text(trace, wanted, to, size);
	bytes = report_reserved_at_peak(trace, device);
	if (bytes == TRACE_NONE)
		bytes = device->reserved.peak_bytes;
	device_text(device, where, sizeof(where));
	snprintf(to, size, "Peak %s allocated of %s reserved on %s%s%s",
		 SAY_BYTES(device->allocated.peak_bytes), SAY_BYTES(bytes), where,
		 trace->capture.baseline ? "" : ", at ",
		 trace->capture.baseline ? "" : SAY_TIME(device->allocated.peak_t));
	return add_culprit(trace, device, to, size);
}

/* --- failed allocations --- */

uint64_t report_ooms(const struct trace *trace, int wanted)
{
	uint64_t ooms = 0;

	for (size_t i = 0; i < trace->summary.devices_n; i++) {
		if (wanted == NO_DEVICE || trace->summary.devices[i].device == wanted)
			ooms += trace->summary.devices[i].ooms;
	}
	return ooms;
}

int report_failures(struct trace *trace, int wanted, struct event *events, size_t most)
{
	size_t count = 0;
	int more = 1;

	while (count < most && more == 1) {
		more = trace_next_of(trace, EVENT_OOM, &events[count]);
		if (more < 0)
			return more;
		if (more == 1 && (wanted == NO_DEVICE || events[count].device == wanted))
			count++;
	}
	return (int)count;
}

const struct trace_oom *report_fatal(const struct trace *trace, int wanted)
{
	const struct trace_oom *last = trace->ooms_n ? &trace->ooms[trace->ooms_n - 1] : NULL;

	if (!last || last->survived || (wanted != NO_DEVICE && last->device != wanted))
		return NULL;
	return last;
}

/* " It was so.", of the lines that explain it: one begins "Why: ", and those below are indented. */
static void add_reason(const struct trace_oom *oom, char *to, size_t size)
{
	static const char why[] = "Why: ";
	const size_t indent = sizeof(why) - 1;
	size_t first = 0;

	while (first < oom->text_n && strncmp(oom->text[first], why, indent) != 0)
		first++;
	for (size_t i = first; i < oom->text_n; i++) {
		if (i > first && strncmp(oom->text[i], "     ", indent) != 0)
			break;
		text_append(to, size, " ");
		text_append(to, size, oom->text[i] + indent);
	}
}

bool report_fatal_text(const struct trace *trace, int wanted, char *to, size_t size)
{
	const struct trace_oom *oom = report_fatal(trace, wanted);
	char place[40] = "";
	char line[300];

	if (!oom)
		return false;
	if (oom->device != NO_DEVICE)
		snprintf(place, sizeof(place), " on device %d", oom->device);
	report_line_text(trace, oom->stack, line, sizeof(line));
	snprintf(to, size, "Out of memory: %s%s could not be had at %s, by %s.",
		 SAY_BYTES(oom->size), place, SAY_TIME(oom->t), line);
	add_reason(oom, to, size);
	return true;
}

void report_failure_text(const struct trace *trace, const struct event *event, char *to,
			 size_t size)
{
	const char *error = trace_text(trace, event->error);
	const char *api = trace_text(trace, event->api);
	const struct trace_thread *thread = trace_thread(trace, event->thread);
	char number[SHOW_NUMBER];
	char line[300];
	size_t used;

	report_line_text(trace, event->stack, line, sizeof(line));
	used = (size_t)snprintf(to, size, "%s", show_bytes(number, event->size));
	if (event->device != NO_DEVICE)
		used += (size_t)snprintf(to + used, size - used, " on device %d", event->device);
	used += (size_t)snprintf(to + used, size - used, " at %s", show_time(number, event->t));
	if (event->allocated != TRACE_NONE && event->reserved != TRACE_NONE) {
		used += (size_t)snprintf(to + used, size - used, ", with %s allocated",
					 show_bytes(number, event->allocated));
		used += (size_t)snprintf(to + used, size - used, " and %s reserved",
					 show_bytes(number, event->reserved));
	}
	snprintf(to + used, size - used, ": %s, by %s (%.80s)%s%.40s", error ? error : "failed",
		 line, api ? api : "?", thread && !thread->main ? " in thread " : "",
		 thread && !thread->main ? thread->name : "");
}
