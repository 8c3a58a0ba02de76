/* Walks this thread's stack: by prediction, by stored rules (cfi_walk.h) or by the unwinder. */
#include "capture/stack/walk.h"

#include "base/guest/debug_checks.h"
#include "base/guest/hot.h"
#include "capture/stack/modules.h"
#include "capture/stack/unwind.h"

static HOT_DATA struct {
	bool native, python;
	size_t depth;
} wanted;

void walk_init(void)
{
	wanted.native = opt_count(OPT_ID_stacks) & STACKS_NATIVE;
	wanted.python = opt_count(OPT_ID_stacks) & STACKS_PYTHON;
	wanted.depth = opt_count(OPT_ID_stack_depth);
}

const char *walk_mode(void)
{
	if (wanted.python)
		return wanted.native ? "python,native" : "python";
	return wanted.native ? "native" : "none";
}

HOT_CODE bool walk_is_wanted(void)
{
	return wanted.native || wanted.python;
}

bool walk_unwind(struct walk *walk, void *caller)
{
	size_t count = wanted.native ? unwind(walk->buffer, wanted.depth + WALK_OWN) : 0;

	walk->count = count;
	for (size_t i = 0; i < count; i++) {
		if (walk->buffer[i] != caller)
			continue;
		walk->native = walk->buffer + i;
		walk->native_count = count - i < wanted.depth ? count - i : wanted.depth;
		return true;
	}
	walk->buffer[0] = caller;
	walk->native = walk->buffer;
	walk->native_count = 1;
	return false;
}

static void cut_at_python(struct walk *walk)
{
	for (size_t i = 0; i < walk->native_count; i++) {
		uint64_t pc = (uint64_t)walk->native[i] - 1;

		if (pc - walk->low < walk->high - walk->low) {
			walk->native_count = i;
			return;
		}
	}
}

static bool step_on(const struct walk *walk, struct step_walk *steps)
{
	return step_walk(steps, &walk->start, walk->low, walk->high, wanted.depth);
}

static bool is_predicted(struct walk *walk, struct walk_memory *memory)
{
	uint64_t line = walk->python.count ? (uint64_t)walk->python.sum : 0;

	walk->path = predict(&memory->predict, &walk->start, walk->low, walk->high,
			     (uint32_t)(line ^ line >> 32));
	if (!walk->path)
		return false;
	walk->count = walk->native_count = 0;
	walk->hash = walk->path->hash;
	walk->next = memory->predict.expected;
	/* In a debug build each prediction is compared with the walk that it replaces. */
	if (WATCHED && step_on(walk, &memory->steps))
		watch_same(walk->hash.a == memory->steps.hash.a &&
				   walk->hash.b == memory->steps.hash.b,
			   "a predicted stack");
	return true;
}

void walk_list(struct walk *walk)
{
	if (!walk->path)
		return;
	walk->native = walk->buffer;
	walk->native_count = predict_list(walk->path, walk->native);
	walk->path = NULL;
}

static bool is_stepped(struct walk *walk, struct walk_memory *memory)
{
	struct step_walk *steps = &memory->steps;

	if (!step_on(walk, steps))
		return false;
	walk->count = 0;
	walk->native = (void **)(void *)steps->address;
	walk->native_count = steps->count;
	walk->hash = steps->hash;
	if (predict_learn(&memory->predict, steps))
		walk->next = memory->predict.expected;
	return true;
}

static HOT_CODE void walk_native(struct walk *walk, struct walk_memory *memory, void *caller,
				 void *const *frame)
{
	bool by_rules = wanted.native && memory && frame && frame[1] == caller;

	if (!walk->python.count || !python_eval_range(&walk->low, &walk->high))
		walk->low = walk->high = 0;
	if (by_rules)
		walk->start = step_start(frame);
	if (by_rules && unwind_met && (is_predicted(walk, memory) || is_stepped(walk, memory)))
		return;
	if (walk_unwind(walk, caller) && by_rules)
		walk->learnt = step_learn(&walk->start, walk->native,
					  walk->count - (size_t)(walk->native - walk->buffer),
					  walk->count < wanted.depth + WALK_OWN);
	cut_at_python(walk);
	walk->hash = step_hash(walk->native, walk->native_count);
}

static struct hash128 hash_python(struct hash128 hash, const struct python_frames *frames)
{
	uint64_t low = (uint64_t)frames->sum + frames->count * HASH_B;
	uint64_t high = (uint64_t)(frames->sum >> 64);

	return (struct hash128){
		.a = hash_fold(low ^ hash.a ^ HASH_A, high ^ HASH_B),
		.b = hash_fold(low ^ HASH_C, high ^ hash.b ^ HASH_D),
	};
}

/* The hash depends on unload_word(): after an unload, other code may lie at the same addresses. */
static inline struct hash128 hash_whole(const struct walk *walk)
{
	struct hash128 hash = walk->hash;

	if (walk->python.count)
		hash = hash_python(hash, &walk->python);
	if (walk->via.backward || walk->via.forward) {
		uint64_t via = (uint64_t)walk->via.backward << 32 | walk->via.forward;

		hash = hash_words(hash, &via, 1);
	}
	hash.b ^= walk->unloaded * HASH_A;
	return hash;
}

HOT_CODE void walk_stack(struct walk *walk, struct walk_memory *memory, void *caller,
			 void *const *frame)
{
	walk->unloaded = unload_word();
	walk->learnt = false;
	walk->path = NULL;
	walk->next = NULL;
	walk->python.list = walk->frames;
	walk->python.capacity = WALK_PYTHON;
	if (memory)
		walk->python.trail = &memory->trail;
	walk->python.count = 0;
	walk->via = (struct autograd_via){ 0, 0 };
	if (wanted.python)
		python_walk(&walk->python);
	if (wanted.python && !walk->python.count)
		walk->via = autograd_via();
	walk_native(walk, memory, caller, frame);
	walk->hash = hash_whole(walk);
}

void walk_forget(struct walk_memory *memory)
{
	predict_forget(&memory->predict);
	memory->trail.last = memory->trail.high = memory->trail.good = 0;
}
