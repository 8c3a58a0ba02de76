/* Predicts a walk of the stack from earlier walks, and checks it word by word against the stack. */
#include "capture/stack/predict.h"

#include "base/guest/hot.h"
#include "base/mem/each.h"
#include "capture/stack/modules.h"
#include "capture/stack/unwind.h"

enum { HISTORY_SHIFT = 3 }; /* bits by which a walk shifts `history`: 32 bits cover 11 walks */

static inline void pass(struct predict_memory *memory, unsigned index)
{
	memory->history = memory->history << HISTORY_SHIFT ^ (index + 1) * 0x6b43u;
	__builtin_prefetch(predict_set(memory));
}

/* True if the stack has the path's words. They are compared in order, as a word is safe to read
 * only if all words before it matched. The branches are predicted, so no load waits for another. */
static inline bool holds_range(const struct predict_path *path, uint64_t low, uint64_t high)
{
	const uint64_t *stack = (const uint64_t *)(uintptr_t)path->start.stack;
	const struct predict_word *end = path->word + path->words;

	for (const struct predict_word *word = path->word; word < end; word++) {
		if (__builtin_expect(stack[word->place] != word->value, 0))
			return false;
	}
	return !path->cut || stack[path->beyond] - 1 - low < high - low;
}

static inline bool begins(const struct predict_path *path, const struct predict_memory *memory,
			  const struct step_start *start, bool cut)
{
	return path->start.stack == start->stack && path->start.address == start->address &&
	       path->generation == memory->generation + 1 && path->cut == cut &&
	       (!path->by_frame || path->start.frame == start->frame);
}

static struct predict_next *place_for(struct predict_memory *memory, struct predict_next *set)
{
	for (unsigned i = 0; i < PREDICT_SET; i++) {
		if (!set[i].stack)
			return &set[i];
	}
	return &set[memory->way++ % PREDICT_SET];
}

/* Sets memory->expected to the entry for history and context. If there is none: to an entry that is
 * to be filled, and returns false. */
static inline bool expect(struct predict_memory *memory, uint32_t context)
{
	struct predict_next *set = predict_set(memory);

	memory->tag = (uint16_t)((memory->history ^ context) * 0x85ebca6bu >> 16);
	for (unsigned i = 0; i < PREDICT_SET; i++) {
		memory->expected = &set[i];
		if (set[i].tag == memory->tag)
			return true;
	}
	memory->expected = place_for(memory, set);
	return false;
}

HOT_CODE const struct predict_path *predict(struct predict_memory *memory,
					    const struct step_start *start, uint64_t low,
					    uint64_t high, uint32_t context)
{
	const struct predict_path *path;
	bool cut = low != high;
	unsigned index;

	if (__builtin_expect(memory->word != unload_word() ||
				     (cut && (memory->low != low || memory->high != high)),
			     0)) {
		predict_forget(memory);
		memory->word = unload_word();
		memory->low = low;
		memory->high = high;
	}
	if (!expect(memory, context))
		return NULL;
	index = memory->expected->path;
	path = &memory->paths[index];
	predict_fetch(path);
	if (!begins(path, memory, start, cut) || !holds_range(path, low, high) ||
	    unwind_is_careful())
		return NULL;
	pass(memory, index);
	return path;
}

/* --- storing a walk as a path --- */

static bool find_place(const struct predict_path *path, uint64_t address, uint16_t *place)
{
	uint64_t words = (address - path->start.stack) / 8;

	*place = (uint16_t)words;
	return words <= UINT16_MAX && address % 8 == 0;
}

static bool put_value(struct predict_path *path, uint64_t address, uint64_t value, bool saved)
{
	struct predict_word word = { .saved = saved, .value = value };
	uint16_t place;

	/* A value of more than 47 bits is not a user-space address. */
	if (path->words == PREDICT_WORDS || word.value != value ||
	    !find_place(path, address, &place))
		return false;
	word.place = place;
	path->word[path->words++] = word;
	return true;
}

static bool put_step(struct predict_path *path, const struct step_walk *walk, uint32_t at)
{
	const struct step_state *state = &walk->state[at];

	return put_value(path, state[1].stack - 8, walk->address[at + 1], false) &&
	       (!state->saved || !state[1].by_frame ||
		put_value(path, state->saved, state[1].frame, true));
}

static bool fill_path(struct predict_path *path, const struct step_walk *walk)
{
	*path = (struct predict_path){
		.start = { .address = walk->address[0],
			   .stack = walk->state[0].stack,
			   .frame = walk->state[0].frame },
		.hash = walk->hash,
		.cut = walk->beyond,
		.by_frame = walk->state[0].by_frame,
	};
	for (uint32_t at = 0; at + 1 < walk->count; at++) {
		if (!put_step(path, walk, at))
			return false;
	}
	return !path->cut || find_place(path, walk->state[walk->count].stack - 8, &path->beyond);
}

static bool is_of(const struct predict_memory *memory, const struct predict_path *path,
		  const struct step_walk *walk)
{
	return path->generation == memory->generation + 1 && path->hash.a == walk->hash.a &&
	       path->hash.b == walk->hash.b && path->start.stack == walk->state[0].stack &&
	       path->cut == walk->beyond;
}

/* The index of the walk's path or, if there is none (*known is false), of a path to replace. */
static unsigned find_path(struct predict_memory *memory, const struct step_walk *walk, bool *known)
{
	uint64_t spread = walk->hash.a ^ walk->state[0].stack * HASH_A >> 32;
	unsigned first = (unsigned)(spread % (PREDICT_PATHS / PREDICT_WAYS)) * PREDICT_WAYS;

	*known = true;
	for (unsigned i = 0; i < PREDICT_WAYS; i++) {
		if (is_of(memory, &memory->paths[first + i], walk))
			return first + i;
	}
	*known = false;
	return first + memory->way++ % PREDICT_WAYS;
}

bool predict_learn(struct predict_memory *memory, const struct step_walk *walk)
{
	struct predict_next *next = memory->expected;
	bool expected = next->tag == memory->tag;
	struct predict_path *path;
	unsigned index;
	bool known;

	if (!walk->whole || !walk->count)
		return false;
	index = find_path(memory, walk, &known);
	path = &memory->paths[index];
	/* Fills a new path. Also refills the path that predict() rejected, if this walk has its
	 * return addresses: they now lie at other positions on the stack. */
	if ((expected && next->path == index) || !known) {
		if (!fill_path(path, walk))
			return false;
		path->generation = memory->generation + 1;
	}
	next->path = (uint16_t)index;
	next->tag = memory->tag;
	pass(memory, index);
	return true;
}

size_t predict_list(const struct predict_path *path, void **addresses)
{
	size_t count = 0;

	addresses[count++] = (void *)(uintptr_t)path->start.address;
	foreach (word, path->word, path->words) {
		if (!word->saved)
			addresses[count++] = (void *)(uintptr_t)word->value;
	}
	return count;
}

void predict_forget(struct predict_memory *memory)
{
	memory->generation++;
	memory->history = 0;
}
