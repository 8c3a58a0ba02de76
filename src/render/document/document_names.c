/* Fills the trace's modules, frames, stacks and threads. */
#include "base/settings/sample.h"
#include "render/document/document.h"

static void fill_modules(struct spool_model *recording)
{
	const struct spool *spool = recording->spool;
	uint64_t count = spool_count(spool, SPOOL_MODULE);
	struct trace *trace = recording->trace;

	trace->modules = spool_model_room(recording, count, sizeof(*trace->modules));
	for (uint32_t i = 0; trace->modules && i < count; i++) {
		const struct spool_module *module = spool_model_module(recording, i);
		const char *path = spool_text(spool, module->path);

		trace->modules[trace->modules_n++] = (struct trace_module){
			.path = path ? path : "",
			.build_id = spool_text(spool, module->build_id),
			.base = module->base,
		};
	}
}

static void fill_backward(struct spool_model *recording, const struct spool_stack *from,
			  struct trace_stack *stack)
{
	static const char vias[][16] = {
		[BACKWARD_FORWARD] = "forward",
		[BACKWARD_CALL] = "backward",
	};
	struct backward backward;

	backward_read(recording, from, &backward);
	if (backward.node[0])
		stack->node = spool_model_text(recording, backward.node);
	if (backward.via == BACKWARD_NOT)
		return;
	stack->via = vias[backward.via];
	stack->via_stack = backward.stack;
}

/* Fills frames[], without frames that the spool lacks, and entries[], the indices in frames[] where
 * C called Python. Each stack has its own rows in the table STEP, one for each frame; *left is the
 * number of rows not used so far. A stack with more frames than that is damaged, and gets none. */
static void fill_steps(struct spool_model *recording, const struct spool_stack *from,
		       struct trace_stack *stack, uint64_t *left)
{
	uint32_t depth = spool_model_depth(recording, from);

	if (depth > *left) {
		recording->damaged = true;
		depth = 0;
	}
	*left -= depth;
	stack->frames = spool_model_room(recording, depth, sizeof(*stack->frames));
	if (from->entries)
		stack->entries = spool_model_room(recording, 64, sizeof(*stack->entries));
	for (uint32_t k = 0; stack->frames && k < depth; k++) {
		uint32_t frame = spool_model_step(recording, from, k);
		uint32_t python = k - from->native;

		if (frame >= recording->frames)
			continue;
		if (stack->entries && k >= from->native && python < 64 &&
		    from->entries >> python & 1)
			stack->entries[stack->entries_n++] = (uint32_t)stack->frames_n;
		stack->frames[stack->frames_n++] = frame;
	}
}

static void fill_stack(struct spool_model *recording, const struct spool_stack *from,
		       struct trace_stack *stack)
{
	fill_backward(recording, from, stack);
	stack->owner = spool_text(recording->spool, from->owner);
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
	stack->estimated_allocations = sample_allocations(from->estimated_parts);
	stack->estimated_bytes = from->estimated_bytes;
}

static void fill_threads(struct spool_model *recording)
{
	const struct spool *spool = recording->spool;
	uint64_t count = spool_count(spool, SPOOL_THREAD);
	struct trace *trace = recording->trace;

	trace->threads = spool_model_room(recording, count, sizeof(*trace->threads));
	for (uint64_t i = 0; trace->threads && i < count; i++) {
		const struct spool_thread *thread = spool_at(spool, SPOOL_THREAD, i);

		trace->threads[trace->threads_n++] = (struct trace_thread){
			.thread = thread->thread,
			.name = spool_text(spool, thread->name),
			.main = thread->thread == spool->header->pid,
			.t = thread->t,
		};
	}
}

void document_names(struct spool_model *recording)
{
	uint64_t left = spool_count(recording->spool, SPOOL_STEP);
	struct trace *trace = recording->trace;

	fill_modules(recording);
	trace->frames = recording->names;
	trace->frames_n = recording->frames;
	trace->stacks = spool_model_items(recording, recording->stacks, ROWS_stack);
	for (uint32_t i = 0; trace->stacks && i < recording->stacks; i++) {
		const struct spool_stack *from = spool_model_stack(recording, i);
		struct trace_stack *stack = &trace->stacks[trace->stacks_n++];

		fill_steps(recording, from, stack, &left);
		fill_stack(recording, from, stack);
	}
	fill_threads(recording);
}
