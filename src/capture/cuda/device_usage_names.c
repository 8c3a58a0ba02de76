/*
 * Attributes occupied memory to named kinds of calls, with the recorder's lock held.
 *
 * The first context is made before the first allocation opens the spool (the recording's file). So
 * steps (changes of the occupied bytes) before that are stored here and written to the spool later.
 */
#include <string.h>

#include "base/guest/table_rows.h"
#include "base/text/text.h"
#include "capture/cuda/cuda_call_parts.h"
#include "capture/cuda/device_usage_parts.h"
#include "ledger/device_used.h"

enum { NAMES = 512, EARLY = 256 };

static const char kinds[USED_KINDS][24] = {
#define USED(id, name, what) WHOLE(name),
#include "capture/cuda/device_usage.def"
};

static const char sources[][16] = { "", "nvml", "cuMemGetInfo" };

/* Bytes occupied by all steps of the same name, or by one step before the spool was opened. */
struct taken {
	struct usage_culprit culprit;
	int device;
	int64_t bytes;
	uint64_t t; /* time of a step; `residual` has the bytes unexplained at that time */
	int64_t residual;
};

struct usage_device usage_devices[DRIVER_DEVICES];

static struct {
	struct taken names[NAMES];
	struct taken early[EARLY];
	uint32_t names_n, early_n;
} state;

static void put_name(const struct usage_look *look, int64_t named,
		     const struct usage_culprit *culprit, int64_t bytes)
{
	struct spool_used sample = {
		.t = look->t,
		.used = look->used,
		.named = named,
		.bytes = bytes,
		.device = (int16_t)look->device,
	};
	char name[USED_OF * 2];

	if (bytes) {
		text_join(name, sizeof(name), kinds[culprit->kind], culprit->of[0] ? " of " : "");
		text_append(name, sizeof(name), culprit->of);
		sample.name = record_text(name);
		sample.kind = record_text(kinds[culprit->kind]);
	}
	if (culprit) {
		sample.api = record_hook_text(culprit->hook);
		sample.stack = culprit->stack;
		sample.thread = culprit->thread;
	}
	used_enter(record_ledger(), &sample,
		   record_text(sources[usage_devices[look->device].source]), culprit != NULL);
}

static bool is_of(const struct taken *taken, int device, const struct usage_culprit *culprit)
{
	return taken->device == device && taken->culprit.kind == culprit->kind &&
	       !strcmp(taken->culprit.of, culprit->of);
}

/* Returns a new entry for a step that ends before the spool is opened; if the table is full, the
 * entry of an earlier step of the same device and name, or NULL if there is none. */
static struct taken *early_of(int device, const struct usage_culprit *culprit)
{
	struct taken *early = state.early + state.early_n;

	if (state.early_n < EARLY) {
		state.early_n++;
		*early = (struct taken){ .culprit = *culprit, .device = device };
		return early;
	}
	while (early-- > state.early) {
		if (is_of(early, device, culprit))
			return early;
	}
	return NULL;
}

static void record_culprit(const struct usage_look *look, const struct usage_culprit *culprit,
			   int64_t bytes)
{
	struct taken *early;

	if (record_is_open()) {
		put_name(look, usage_devices[look->device].named, culprit, bytes);
	} else if (bytes && (early = early_of(look->device, culprit))) {
		early->t = look->t;
		early->bytes += bytes;
		early->residual = usage_devices[look->device].residual;
	}
}

static struct taken *culprit_name(int device, const struct usage_culprit *culprit)
{
	for (uint32_t i = 0; i < state.names_n; i++) {
		struct taken *name = &state.names[i];

		if (is_of(name, device, culprit) && name->culprit.context == culprit->context)
			return name;
	}
	if (state.names_n == NAMES)
		return NULL;
	state.names[state.names_n] = (struct taken){ .culprit = *culprit, .device = device };
	return &state.names[state.names_n++];
}

int64_t usage_left(const struct usage_look *look)
{
	int64_t bytes = (int64_t)look->used;

	if (record_is_open())
		bytes = used_unexplained(record_ledger(), look->device, look->used);
	return bytes - usage_devices[look->device].named;
}

/* Records one step. Of several steps in one sample, each is recorded with the bytes that were
 * occupied once that step had happened. */
static void name_step(const struct usage_look *look, const struct usage_culprit *culprit,
		      int64_t bytes)
{
	struct taken *name = culprit_name(look->device, culprit);
	struct usage_look so_far = *look;

	if (name)
		name->bytes += bytes;
	usage_devices[look->device].named += bytes;
	so_far.used -= (uint64_t)(usage_left(look) - usage_devices[look->device].residual);
	record_culprit(&so_far, culprit, bytes);
}

/* The call `end` destroyed a context: takes back the bytes attributed to calls in that context. */
static void unname(const struct usage_look *look, const struct usage_culprit *end)
{
	for (uint32_t i = 0; i < state.names_n; i++) {
		const struct taken *name = &state.names[i];
		struct usage_culprit culprit = name->culprit;

		if (name->device != look->device || culprit.context != end->ended || !name->bytes)
			continue;
		culprit.hook = end->hook;
		culprit.stack = end->stack;
		culprit.thread = end->thread;
		name_step(look, &culprit, -name->bytes);
	}
}

/* Called at a device's first sample. If samples measure the whole card, the bytes occupied before
 * this process's first context are attributed to other processes (USED_OTHERS). */
static void begin_device(const struct usage_look *look)
{
	struct usage_device *known = &usage_devices[look->device];
	struct usage_culprit others = { .kind = USED_OTHERS, .hook = known->culprit.hook };

	known->begun = true;
	if (known->source == USED_DEVICE && known->before)
		name_step(look, &others, (int64_t)known->before);
}

bool usage_account(const struct usage_look *look, const struct usage_culprit *culprit)
{
	struct usage_device *known = &usage_devices[look->device];
	struct usage_culprit seen_by = { .hook = (enum hook_id)look->span->hook };
	int64_t bytes;

	if (look->moving != atomic_load(&usage_moving) || look->turn < known->turn)
		return false;
	if (record_is_open())
		known->reserved = used_reserved(record_ledger(), look->device);
	if (!known->begun)
		begin_device(look);
	if (known->waiting)
		culprit = &known->culprit;
	known->waiting = false;
	if (culprit && culprit->ended)
		unname(look, culprit);
	bytes = usage_left(look) - known->residual;
	if (bytes && !culprit && atomic_load(&usage_stepping))
		return true; /* bytes of the step under way, whose usage_end() takes a sample */
	known->moving = look->moving;
	known->turn = look->turn;
	known->t = look->t;
	if (bytes && culprit) {
		name_step(look, culprit, bytes);
	} else {
		known->residual += bytes;
		record_culprit(look, bytes ? &seen_by : NULL, 0);
	}
	return true;
}

/* Writes the steps from before the spool was opened, when no memory was reserved yet. */
void usage_settle(void)
{
	int64_t named[DRIVER_DEVICES] = { 0 };

	for (uint32_t i = 0; i < state.early_n; i++) {
		const struct taken *step = &state.early[i];
		struct usage_look then = { .device = step->device, .t = step->t };

		named[step->device] += step->bytes;
		then.used = (uint64_t)(named[step->device] + step->residual);
		put_name(&then, named[step->device], &step->culprit, step->bytes);
	}
	state.early_n = 0;
}

void usage_clear(void)
{
	state.names_n = state.early_n = 0;
	memset((void *)usage_devices, 0, sizeof(usage_devices));
	usage_forget_seen();
	atomic_store(&usage_moving, 0);
	atomic_store(&usage_stepping, 0);
	usage_thread = (struct usage_thread){ 0, 0 };
	nvml_clear();
	cuda_call_forget_pools();
}
