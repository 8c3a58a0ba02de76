/* Reads the facts, frames and stacks of a spool. Every number from the file is checked before it is
 * used as a position, because the file may be incomplete (its process was killed) or hostile. */
#include "facts/spool_model.h"

#include <errno.h>
#include <string.h>

#include "base/mem/sort.h"
#include "facts/sites.h"
#include "ledger/totals.h"

const struct spool_stack *spool_model_stack(const struct spool_model *recording, uint32_t stack)
{
	return stack < recording->stacks ? spool_at(recording->spool, SPOOL_STACK, stack) : NULL;
}

const struct spool_module *spool_model_module(const struct spool_model *recording, uint32_t module)
{
	if (module >= spool_count(recording->spool, SPOOL_MODULE))
		return NULL;
	return spool_at(recording->spool, SPOOL_MODULE, module);
}

uint32_t spool_model_depth(const struct spool_model *recording, const struct spool_stack *stack)
{
	uint64_t steps = spool_count(recording->spool, SPOOL_STEP);
	uint32_t depth = (uint32_t)stack->native + stack->python;

	return (uint64_t)stack->step + depth <= steps ? depth : 0;
}

uint32_t spool_model_step(const struct spool_model *recording, const struct spool_stack *stack,
			  uint32_t i)
{
	const uint32_t *step = spool_at(recording->spool, SPOOL_STEP, stack->step + i);

	return *step - 1;
}

uint32_t fact_find(const struct spool *spool, const char *key, uint32_t from)
{
	uint64_t facts = spool_count(spool, SPOOL_FACT);

	for (uint64_t i = from; i < facts; i++) {
		const struct spool_fact *fact = spool_at(spool, SPOOL_FACT, i);
		const char *name = spool_text(spool, fact->key);

		if (name && !strcmp(name, key))
			return (uint32_t)i + 1;
	}
	return 0;
}

const char *fact_value(const struct spool *spool, uint32_t fact)
{
	const struct spool_fact *row;

	if (!fact || fact > spool_count(spool, SPOOL_FACT))
		return NULL;
	row = spool_at(spool, SPOOL_FACT, fact - 1);
	return spool_text(spool, row->value);
}

const char *fact_told(const struct spool *spool, const char *key)
{
	return fact_value(spool, fact_find(spool, key, 0));
}

const struct trace_card *trace_card(const struct trace *trace, int device)
{
	const struct trace_environment *environment = &trace->environment;

	for (size_t i = 0; i < environment->devices_n; i++) {
		if (environment->devices[i].device == device)
			return &environment->devices[i];
	}
	return NULL;
}

void shares_sort(struct trace_share *shares, size_t count)
{
	static const struct sort_key by_bytes[] = {
		SORT_DOWN(struct trace_share, bytes),
		SORT_DOWN(struct trace_share, live),
		SORT_UP(struct trace_share, stack),
		{ 0 },
	};

	sort_rows(shares, count, sizeof(*shares), by_bytes);
}

static void *got(struct spool_model *recording, void *memory)
{
	if (!memory)
		recording->error = -ENOMEM;
	return memory;
}

void *spool_model_room(struct spool_model *recording, size_t count, size_t size)
{
	return got(recording, arena_alloc(&recording->arena, count * size + 1));
}

void *spool_model_items(struct spool_model *recording, size_t count, unsigned of)
{
	return got(recording, rows_make(&recording->arena, (enum rows_of)of, count));
}

const char *spool_model_text(struct spool_model *recording, const char *text)
{
	return got(recording, arena_text(&recording->arena, text, strlen(text)));
}

static void name_module(struct spool_model *recording, struct symbol_query *queries, size_t count,
			enum symbols_names names)
{
	const struct spool_module *module = spool_model_module(recording, queries[0].module);
	const char *path = spool_text(recording->spool, module->path);

	if (!path)
		return;
	if (symbols_find(path, spool_text(recording->spool, module->build_id), queries, count,
			 &recording->arena)) {
		if (path[0] == '/') {
			recording->unnamed = path;
			recording->unnamed_n += count;
		}
		return;
	}
	for (size_t i = 0; i < count; i++) {
		struct trace_frame *frame = &recording->names[queries[i].frame];

		if (!queries[i].symbol)
			continue;
		frame->symbol = queries[i].symbol;
		frame->function = symbols_demangle(frame->symbol, names, &recording->arena);
	}
}

static void read_frame(struct spool_model *recording, uint32_t number)
{
	const struct spool_frame *from = spool_at(recording->spool, SPOOL_FRAME, number);
	struct trace_frame *frame = &recording->names[number];

	frame->function = spool_text(recording->spool, from->function);
	if (from->language == FRAME_PYTHON) {
		frame->language = TRACE_PYTHON;
		frame->file = spool_text(recording->spool, from->file);
		frame->line = from->line;
	} else if (from->language == FRAME_NATIVE) {
		frame->offset = from->offset;
		if (from->module && spool_model_module(recording, from->module - 1))
			frame->module = from->module - 1;
	}
}

static int name_frames(struct spool_model *recording, uint32_t first, enum symbols_names names)
{
	static const struct sort_key by_module[] = {
		SORT_UP(struct symbol_query, module),
		SORT_UP(struct symbol_query, offset),
		{ 0 },
	};
	uint32_t frames = recording->frames - first;
	struct symbol_query *queries =
		arena_alloc(&recording->arena, (frames + 1) * sizeof(*queries));
	size_t count = 0;
	size_t to;

	if (!queries)
		return -ENOMEM;
	for (uint32_t i = first; i < recording->frames; i++) {
		const struct trace_frame *frame = &recording->names[i];

		read_frame(recording, i);
		/* The offset is a return address: the call is the instruction before it. */
		if (frame->module != UINT32_MAX)
			queries[count++] = (struct symbol_query){
				.offset = frame->offset - 1,
				.module = frame->module,
				.frame = i,
			};
	}
	sort_rows(queries, count, sizeof(*queries), by_module);
	for (size_t from = 0; from < count; from = to) {
		for (to = from + 1; to < count && queries[to].module == queries[from].module; to++)
			;
		name_module(recording, queries + from, to - from, names);
	}
	return 0;
}

/* Allocates the lists for all frames of the spool; their size doubles when they are full. */
static int make_lists(struct spool_model *recording)
{
	uint32_t frames = (uint32_t)spool_count(recording->spool, SPOOL_FRAME);
	uint32_t room = recording->room ? 2 * recording->room : frames + 1;
	struct trace_frame *names;
	struct site_frame *seen;

	if (frames < recording->room)
		return 0;
	room = room > frames ? room : frames + 1;
	names = rows_make(&recording->arena, ROWS_frame, room);
	seen = arena_alloc(&recording->arena, room * sizeof(*seen));
	if (!names || !seen)
		return -ENOMEM;
	if (recording->frames) {
		memcpy(names, recording->names, recording->frames * sizeof(*names));
		memcpy(seen, recording->seen, recording->frames * sizeof(*seen));
	}
	recording->names = names;
	recording->seen = seen;
	recording->room = room;
	return 0;
}

int spool_model_extend(struct spool_model *recording, const struct spool *spool,
		       enum symbols_names names)
{
	uint32_t first = recording->frames;
	int error;

	recording->spool = spool;
	error = make_lists(recording);
	if (error)
		return error;
	recording->frames = (uint32_t)spool_count(spool, SPOOL_FRAME);
	recording->stacks = (uint32_t)spool_count(spool, SPOOL_STACK);
	recording->scopes = (uint32_t)spool_count(spool, SPOOL_SCOPE);
	return name_frames(recording, first, names) ?: spool_model_see(recording, first);
}

void spool_model_clear(struct spool_model *recording)
{
	pages_free(recording->phases, recording->phases_size * sizeof(*recording->phases));
	arena_clear(&recording->arena);
	memset(recording, 0, sizeof(*recording));
}
