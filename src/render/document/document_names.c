/* The document's names: modules, frames, stacks, threads, sites. */
#include "base/settings/sample.h"
#include "facts/backward.h"
#include "render/document/document_sections.h"

static bool fill_module(struct filler *filler, uint64_t i, void *item)
{
	const struct spool_module *module = recording_module(filler->recording, (uint32_t)i);
	const char *path = spool_text(filler->spool, module->path);

	*(struct trace_module *)item = (struct trace_module){
		.path = path ? path : "",
		.build_id = spool_text(filler->spool, module->build_id),
		.base = module->base,
	};
	return true;
}

static bool fill_frame(struct filler *filler, uint64_t i, void *item)
{
	const struct recording *recording = filler->recording;
	const struct spool_frame *from = recording_frame(recording, (uint32_t)i);
	const struct recording_frame *name = &recording->names[i];
	struct trace_frame *frame = item;

	frame->function = name->function;
	if (from->language == FRAME_PYTHON) {
		frame->language = TRACE_PYTHON;
		frame->file = spool_text(filler->spool, from->file);
		frame->line = from->line;
		return true;
	}
	frame->language = TRACE_NATIVE;
	frame->symbol = name->symbol;
	if (from->language == FRAME_NATIVE) {
		frame->offset = from->offset;
		if (from->module && recording_module(recording, from->module - 1))
			frame->module = from->module - 1;
	}
	return true;
}

/* Of a stack on one of autograd's threads: what runs, and which line that comes from. */
static void fill_backward(struct filler *filler, const struct spool_stack *from,
			  struct trace_stack *stack)
{
	static const char vias[][16] = {
		[BACKWARD_FORWARD] = "forward",
		[BACKWARD_CALL] = "backward",
	};
	struct backward backward;

	backward_read(filler->recording, from, &backward);
	if (backward.node[0])
		stack->node = filler_text(filler, backward.node);
	if (backward.via == BACKWARD_NOT)
		return;
	stack->via = vias[backward.via];
	stack->via_stack = backward.stack;
}

/* Frames that the spool does not have are left out, so entries count those that are kept. */
static void fill_steps(struct filler *filler, const struct spool_stack *from,
		       struct trace_stack *stack)
{
	const struct recording *recording = filler->recording;
	uint32_t depth = recording_depth(recording, from);

	stack->frames = filler_room(filler, depth, sizeof(*stack->frames));
	if (from->entries)
		stack->entries = filler_room(filler, 64, sizeof(*stack->entries));
	for (uint32_t k = 0; stack->frames && k < depth; k++) {
		uint32_t frame = recording_step(recording, from, k);
		uint32_t python = k - from->native;

		if (frame >= recording->frames)
			continue;
		if (stack->entries && k >= from->native && python < 64 &&
		    from->entries >> python & 1)
			stack->entries[stack->entries_n++] = (uint32_t)stack->frames_n;
		stack->frames[stack->frames_n++] = frame;
	}
}

static bool fill_stack(struct filler *filler, uint64_t i, void *item)
{
	const struct spool_stack *from = recording_stack(filler->recording, (uint32_t)i);
	const struct recording_held *held = &filler->recording->held[i];
	struct trace_stack *stack = item;

	fill_steps(filler, from, stack);
	fill_backward(filler, from, stack);
	stack->owner = spool_text(filler->spool, from->owner);
	stack->allocations = from->allocations;
	stack->bytes = from->bytes;
	stack->frees = from->frees;
	stack->freed_bytes = from->freed;
	if (from->lifetime_max) {
		stack->lifetime_min_ns = from->lifetime_min;
		stack->lifetime_max_ns = from->lifetime_max;
	}
	stack->frees_here = from->frees_here;
	stack->freed_here_bytes = from->freed_here;
	stack->live_bytes = held->live;
	stack->live_count = held->live_count;
	stack->peak_bytes = held->peak;
	stack->peak_count = held->peak_count;
	if (from->estimated_parts || held->estimated_peak) {
		stack->estimated_allocations = sample_allocations(from->estimated_parts);
		stack->estimated_bytes = from->estimated_bytes;
		stack->estimated_live_bytes = held->estimated;
		stack->estimated_peak_bytes = held->estimated_peak;
	}
	return true;
}

static bool fill_thread(struct filler *filler, uint64_t i, void *item)
{
	const struct spool_thread *thread = spool_at(filler->spool, SPOOL_THREAD, i);

	*(struct trace_thread *)item = (struct trace_thread){
		.thread = thread->thread,
		.name = spool_text(filler->spool, thread->name),
		.main = thread->thread == filler->spool->header->pid,
		.t = thread->t,
	};
	return true;
}

void document_names(struct filler *filler)
{
	const struct recording *recording = filler->recording;

	document_list(filler, "modules", spool_count(filler->spool, SPOOL_MODULE), fill_module,
		      NULL);
	document_list(filler, "frames", recording->frames, fill_frame, NULL);
	document_list(filler, "stacks", recording->stacks, fill_stack, NULL);
	document_list(filler, "threads", spool_count(filler->spool, SPOOL_THREAD), fill_thread,
		      NULL);
}

static bool fill_site(struct filler *filler, uint64_t i, void *item)
{
	*(struct trace_site *)item = filler->recording->sites[i];
	return true;
}

void document_sites(struct filler *filler)
{
	document_list(filler, "sites", filler->recording->site_count, fill_site, NULL);
}
