/* The document's names: modules, frames, stacks, threads, sites. */
#include "base/settings/sample.h"
#include "facts/backward.h"
#include "render/document/document_sections.h"

static void write_modules(struct out *out, const struct recording *recording)
{
	uint64_t modules = spool_count(recording->spool, SPOOL_MODULE);

	out_text(out, "\"modules\":[");
	for (uint32_t i = 0; i < modules; i++) {
		const struct spool_module *module = recording_module(recording, i);
		const char *path = spool_text(recording->spool, module->path);

		out_text(out, i ? ",\n{\"path\":" : "\n{\"path\":");
		out_json(out, path ? path : "");
		out_text(out, ",\"build_id\":");
		out_json(out, spool_text(recording->spool, module->build_id));
		out_text(out, ",\"base\":\"");
		out_hex(out, module->base);
		out_text(out, "\"}");
	}
	out_text(out, "],\n");
}

static void write_frame(struct out *out, const struct recording *recording, uint32_t i)
{
	const struct spool_frame *frame = recording_frame(recording, i);
	const struct recording_frame *name = &recording->names[i];

	if (frame->language == FRAME_PYTHON) {
		out_text(out, "{\"language\":\"python\",\"function\":");
		out_json(out, name->function);
		out_text(out, ",\"file\":");
		out_json(out, spool_text(recording->spool, frame->file));
		out_text(out, ",\"line\":");
		out_u64(out, frame->line);
		out_char(out, '}');
		return;
	}
	out_text(out, "{\"language\":\"native\",\"function\":");
	out_json(out, name->function);
	out_text(out, ",\"symbol\":");
	out_json(out, name->symbol);
	if (frame->language == FRAME_NATIVE && frame->module &&
	    recording_module(recording, frame->module - 1)) {
		out_text(out, ",\"module\":");
		out_u64(out, frame->module - 1);
	} else {
		out_text(out, ",\"module\":null");
	}
	if (frame->language == FRAME_NATIVE) {
		out_text(out, ",\"offset\":\"");
		out_hex(out, frame->offset);
		out_char(out, '"');
	} else {
		out_text(out, ",\"offset\":null");
	}
	out_text(out, ",\"file\":null,\"line\":null}");
}

/* Of a stack on one of autograd's threads: what runs, and which line that comes from. */
static void write_backward(struct out *out, const struct recording *recording,
			   const struct spool_stack *stack)
{
	static const char vias[][16] = {
		[BACKWARD_FORWARD] = "forward",
		[BACKWARD_CALL] = "backward",
	};
	struct backward backward;

	backward_read(recording, stack, &backward);
	if (backward.node[0]) {
		out_text(out, ",\"node\":");
		out_json(out, backward.node);
	}
	if (backward.via == BACKWARD_NOT)
		return;
	out_text(out, ",\"via\":\"");
	out_text(out, vias[backward.via]);
	out_text(out, "\",\"via_stack\":");
	out_u64(out, backward.stack);
}

/* Figures that are all zero are left out: most stacks only free, or only allocate. */
static void write_figures(struct out *out, const struct spool_stack *stack,
			  const struct recording_held *held)
{
	if (stack->allocations) {
		document_number(out, ",\"allocations\":", stack->allocations);
		document_number(out, ",\"bytes\":", stack->bytes);
	}
	if (stack->frees) {
		document_number(out, ",\"frees\":", stack->frees);
		document_number(out, ",\"freed_bytes\":", stack->freed);
	}
	if (stack->lifetime_max) {
		document_number(out, ",\"lifetime_min_ns\":", stack->lifetime_min);
		document_number(out, ",\"lifetime_max_ns\":", stack->lifetime_max);
	}
	if (stack->frees_here) {
		document_number(out, ",\"frees_here\":", stack->frees_here);
		document_number(out, ",\"freed_here_bytes\":", stack->freed_here);
	}
	if (held->live || held->live_count) {
		document_number(out, ",\"live_bytes\":", held->live);
		document_number(out, ",\"live_count\":", held->live_count);
	}
	if (held->peak || held->peak_count) {
		document_number(out, ",\"peak_bytes\":", held->peak);
		document_number(out, ",\"peak_count\":", held->peak_count);
	}
}

/* What the samples of a stack or a site stand for. */
static void write_estimates(struct out *out, uint64_t parts, uint64_t bytes, uint64_t live,
			    uint64_t peak)
{
	document_number(out,
			",\"estimated_allocations\":", (parts + SAMPLE_PARTS / 2) / SAMPLE_PARTS);
	document_number(out, ",\"estimated_bytes\":", bytes);
	document_number(out, ",\"estimated_live_bytes\":", live);
	document_number(out, ",\"estimated_peak_bytes\":", peak);
}

/* Frames that the spool does not have are left out, so entries count those written. */
static void write_stack(struct out *out, const struct recording *recording, uint32_t i)
{
	const struct spool_stack *stack = recording_stack(recording, i);
	uint32_t depth = recording_depth(recording, stack);
	uint32_t entries[64];
	uint32_t entry_count = 0;
	uint32_t written = 0;
	const char *owner = spool_text(recording->spool, stack->owner);

	out_text(out, "{\"frames\":[");
	for (uint32_t k = 0; k < depth; k++) {
		uint32_t frame = recording_step(recording, stack, k);
		uint32_t python = k - stack->native;

		if (frame >= recording->frames)
			continue;
		if (k >= stack->native && python < 64 && stack->entries >> python & 1)
			entries[entry_count++] = written;
		document_number(out, written++ ? "," : "", frame);
	}
	out_char(out, ']');
	for (uint32_t k = 0; k < entry_count; k++)
		document_number(out, k ? "," : ",\"entries\":[", entries[k]);
	if (entry_count)
		out_char(out, ']');
	write_backward(out, recording, stack);
	if (owner) {
		out_text(out, ",\"owner\":");
		out_json(out, owner);
	}
	write_figures(out, stack, &recording->held[i]);
	if (stack->estimated_parts || recording->held[i].estimated_peak)
		write_estimates(out, stack->estimated_parts, stack->estimated_bytes,
				recording->held[i].estimated, recording->held[i].estimated_peak);
	out_char(out, '}');
}

static void write_threads(struct out *out, const struct recording *recording)
{
	uint64_t threads = spool_count(recording->spool, SPOOL_THREAD);

	out_text(out, "\"threads\":[");
	for (uint64_t i = 0; i < threads; i++) {
		const struct spool_thread *thread = spool_at(recording->spool, SPOOL_THREAD, i);

		document_number(out, i ? ",\n{\"thread\":" : "\n{\"thread\":", thread->thread);
		out_text(out, ",\"name\":");
		out_json(out, spool_text(recording->spool, thread->name));
		out_text(out, thread->thread == recording->spool->header->pid ? ",\"main\":true"
									      : ",\"main\":false");
		document_number(out, ",\"t\":", thread->t);
		out_char(out, '}');
	}
	out_text(out, "],\n");
}

void document_names(struct out *out, const struct recording *recording)
{
	write_modules(out, recording);
	out_text(out, "\"frames\":[");
	for (uint32_t i = 0; i < recording->frames; i++) {
		out_text(out, i ? ",\n" : "\n");
		write_frame(out, recording, i);
	}
	out_text(out, "],\n\"stacks\":[");
	for (uint32_t i = 0; i < recording->stacks; i++) {
		out_text(out, i ? ",\n" : "\n");
		write_stack(out, recording, i);
	}
	out_text(out, "],\n");
	write_threads(out, recording);
}

static void write_site(struct out *out, const struct recording *recording,
		       const struct recording_site *site)
{
	out_text(out, "{\"site\":");
	out_json(out, site->name);
	out_text(out, ",\"space\":\"");
	out_text(out, site->space);
	out_text(out, "\",\"stacks\":[");
	for (uint32_t i = 0; i < site->stacks; i++) {
		if (i)
			out_char(out, ',');
		out_u64(out, recording->by_site[site->first + i]);
	}
	out_text(out, "],\"allocations\":");
	out_u64(out, site->allocations);
	out_text(out, ",\"frees\":");
	out_u64(out, site->frees);
	out_text(out, ",\"bytes\":");
	out_u64(out, site->bytes);
	out_text(out, ",\"live_bytes\":");
	out_u64(out, site->live);
	out_text(out, ",\"peak_bytes\":");
	out_u64(out, site->peak);
	if (recording->spool->header->sample)
		write_estimates(out, site->estimated_parts, site->estimated_bytes,
				site->estimated_live, site->estimated_peak);
	if (site->lifetime_max) {
		out_text(out, ",\"lifetime_min_ns\":");
		out_u64(out, site->lifetime_min);
		out_text(out, ",\"lifetime_max_ns\":");
		out_u64(out, site->lifetime_max);
		out_char(out, '}');
	} else {
		out_text(out, ",\"lifetime_min_ns\":null,\"lifetime_max_ns\":null}");
	}
}

void document_sites(struct out *out, const struct recording *recording)
{
	out_text(out, "\"sites\":[");
	for (uint32_t i = 0; i < recording->site_count; i++) {
		out_text(out, i ? ",\n" : "\n");
		write_site(out, recording, &recording->sites[i]);
	}
	out_text(out, "],\n");
}
