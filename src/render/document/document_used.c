/* The document on what the driver says is occupied, step by step. */
#include "render/document/document_sections.h"

static bool fill_used(struct filler *filler, uint64_t i, void *item)
{
	const struct spool_used *row = spool_at(filler->spool, SPOOL_USED, i);
	struct trace_used *used = item;

	*used = (struct trace_used){
		.t = row->t,
		.device = row->device,
		.bytes = row->bytes,
		.name = filler_name(filler, row->name),
		.kind = filler_name(filler, row->kind),
		.api = filler_name(filler, row->api),
		.stack = row->stack && row->stack < filler->recording->stacks ? row->stack
									      : UINT32_MAX,
		.thread = row->thread,
		.used = row->used,
		.reserved = row->reserved,
		.rounding = row->rounding,
		.named = row->named,
		.residual = row->residual,
	};
	return true;
}

/* Samples with which something came or went, in their order. */
void document_used(struct filler *filler)
{
	document_list(filler, "used", spool_count(filler->spool, SPOOL_USED), fill_used, NULL);
}
