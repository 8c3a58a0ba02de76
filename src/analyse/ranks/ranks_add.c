/* Adds the traces of a job's ranks to a merge (struct merge), one by one. */
#include "analyse/ranks/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/input/grow.h"

static const char *kept(struct merge *merge, const char *text)
{
	return text ? need_text(&merge->arena, text) : NULL;
}

static void raise_u64(uint64_t *value, uint64_t other)
{
	if (other != TRACE_NONE && (*value == TRACE_NONE || other > *value))
		*value = other;
}

/* Returns the card (a physical GPU) with this host and UUID; adds it if it is new. Without a UUID,
 * always adds a card. */
static struct merge_card *card_of(struct merge *merge, const char *host, const char *uuid)
{
	struct texts *texts = &merge->texts;
	const uint32_t key[] = {
		texts_enter(texts, &merge->arena, host, strlen(host)),
		uuid ? texts_enter(texts, &merge->arena, uuid, strlen(uuid))
		     : UINT32_MAX - (uint32_t)merge->cards_n,
	};
	uint32_t id =
		KEYED_ENTER(merge->card_of, merge->cards, merge->cards_n, merge->cards_size, key);
	struct merge_card *card;

	NEED(key[0] && key[1] && id);
	card = &merge->cards[id - 1];
	if (!card->host) {
		card->host = host;
		card->uuid = kept(merge, uuid);
		card->sorted_by = kept(merge, uuid ? uuid : "");
		card->total = TRACE_NONE;
		card->at = id - 1;
	}
	return card;
}

static void fold_device(struct merge *merge, struct merge_rank *rank,
			const struct trace_device *device, const struct trace_card *card)
{
	struct merge_device *own = &rank->devices[rank->devices_n++];
	struct merge_card *on = card_of(merge, rank->host, card ? card->uuid : NULL);
	const char *source = device->used.source;
	uint64_t total =
		device->total_bytes == TRACE_NONE && card ? card->total_bytes : device->total_bytes;

	merge->devices_n++;
	if (!on->name)
		on->name = kept(merge, device->name || !card ? device->name : card->name);
	if (on->total == TRACE_NONE && total)
		on->total = total;
	*own = (struct merge_device){
		.device = device->device,
		.card = (size_t)(on - merge->cards),
		.peaks = { device->allocated.peak_bytes, device->reserved.peak_bytes,
			   device->used.peak_bytes },
		.ooms = trace_known(device->ooms),
		.used_of_card = source && strcmp(source, "nvml") != 0,
	};
	for (size_t metric = 0; metric < TRACE_METRICS; metric++)
		raise_u64(&rank->peaks[metric], own->peaks[metric]);
	/* `used` is measured only now and then, which may miss its peak. That is at least the peak
	 * of `reserved`, because all reserved memory is in use. */
	if (own->peaks[TRACE_USED] != TRACE_NONE)
		raise_u64(&rank->peaks[TRACE_USED], own->peaks[TRACE_RESERVED]);
	rank->ooms += own->ooms;
}

static struct merge_rank fold_process(struct merge *merge, const struct trace *trace)
{
	const struct trace_process *process = &trace->process;
	bool told = process->world_size != TRACE_NONE;

	return (struct merge_rank){
		.rank = process->rank == TRACE_NONE ? 0 : process->rank,
		.world_size = told && process->world_size ? process->world_size : 1,
		.local_rank = process->local_rank,
		.pid = process->pid,
		.start = trace_start_ns(trace),
		.duration = process->duration_ns,
		.path = kept(merge, trace->path),
		.host = kept(merge, process->host ? process->host : "?"),
		.start_time = kept(merge, process->start_time ? process->start_time : ""),
		.exit = process->exit,
		.status = process->status,
		.signal = process->signal,
		.peaks = { TRACE_NONE, TRACE_NONE, TRACE_NONE },
		.baseline = trace->capture.baseline,
	};
}

void merge_fold(struct merge *merge, const struct run *run)
{
	const struct trace *trace = &run->trace;
	struct merge_rank *rank;

	NEED(GROW(merge->ranks, merge->ranks_n, merge->ranks_size, 64));
	rank = &merge->ranks[merge->ranks_n];
	*rank = fold_process(merge, trace);
	rank->devices = NEED_ROOM(&merge->arena, rank->devices, trace->summary.devices_n);
	foreach (device, trace->summary.devices)
		fold_device(merge, rank, device, trace_card(trace, device->device));
	merge_fold_sites(merge, run);
	merge->ranks_n++;
}

int merge_add(struct merge *merge, const char *path)
{
	struct run run;
	int error = run_open(&run, path, NO_DEVICE);

	if (error)
		return error;
	merge_fold(merge, &run);
	run_close(&run);
	return 0;
}

void merge_clear(struct merge *merge)
{
	merge_clear_sites(merge);
	free(merge->ranks);
	free(merge->cards);
	map_clear(&merge->card_of);
	arena_clear(&merge->arena);
	*merge = (struct merge){ .ranks = NULL };
}
