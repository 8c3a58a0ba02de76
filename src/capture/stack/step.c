/* The stack, frame by frame, from the rules of what is on it. */
#include "capture/stack/step.h"

#include <stdatomic.h>
#include <string.h>

#include "base/guest/signals.h"
#include "capture/loader/loader.h"
#include "capture/stack/modules.h"
#include "capture/stack/unwind.h"

/*
 * A rule is one word, so that it is never seen half written:
 *
 *   63..28  what tells its address from others of the same line
 *   27..13  the offset / 8
 *   12..4   where the frame pointer is saved / 8
 *    3..2   enum cfi_kind
 *       1   known: 0 in an empty place
 *
 * A line of eight is one of the cache. An address has 47 bits; multiplied by an odd number they are
 * still told apart, and the high eleven of them choose the line.
 */
enum {
	LINES_BITS = 11,
	LINES = 1 << LINES_BITS,
	LINE = 8,
	KEY_BITS = 47 - LINES_BITS,
	OFFSET_SHIFT = 13,
	SAVED_SHIFT = 4,
	KIND_SHIFT = 2,
	KNOWN = 2,
	FRAME_MOST = 1 << 18, /* bytes */
};

#define FIELD(rule, shift, bits) ((rule) >> (shift) & ((1u << (bits)) - 1))

static struct {
	_Alignas(64) _Atomic uint64_t rules[LINES][LINE];
	_Atomic uint64_t word; /* unload_word() that they hold for */
	atomic_flag learning;
} known = { .learning = ATOMIC_FLAG_INIT };

static inline uint64_t spread(uint64_t address)
{
	return address * 0x9e3779b97f4a7c15u & ((1ull << 47) - 1);
}

/* The rule's word, 0 if there is none. */
static inline uint64_t rule_at(uint64_t address)
{
	uint64_t key = spread(address);
	const _Atomic uint64_t *line = known.rules[key >> KEY_BITS];
	uint64_t tag = key << (64 - KEY_BITS);

	for (unsigned i = 0; i < LINE && !(address >> 47); i++) {
		uint64_t rule = atomic_load_explicit(&line[(key + i) % LINE], memory_order_relaxed);

		if (((rule ^ tag) >> (64 - KEY_BITS)) == 0 && rule & KNOWN)
			return rule;
		if (!rule)
			break;
	}
	return 0;
}

/* With `learning`. Where all places are taken, the first gives way. */
static void put_rule(uint64_t address, const struct cfi_rule *rule)
{
	uint64_t key = spread(address);
	_Atomic uint64_t *line = known.rules[key >> KEY_BITS];
	uint64_t word = key << (64 - KEY_BITS) | (uint64_t)(rule->offset / 8) << OFFSET_SHIFT |
			(uint64_t)(rule->saved / 8) << SAVED_SHIFT |
			(uint64_t)rule->kind << KIND_SHIFT | KNOWN;
	unsigned place = key % LINE;

	for (unsigned i = 0; i < LINE; i++) {
		unsigned at = (unsigned)((key + i) % LINE);
		uint64_t there = atomic_load_explicit(&line[at], memory_order_relaxed);

		if (!there || ((there ^ word) >> (64 - KEY_BITS)) == 0) {
			place = at;
			break;
		}
	}
	atomic_store_explicit(&line[place], word, memory_order_relaxed);
}

static inline uint64_t load(uint64_t address)
{
	return *(const uint64_t *)(uintptr_t)address;
}

enum stepped { STEP_ON, STEP_END, STEP_UNKNOWN };

/* From the frame at the address to its caller's; `state` becomes that one's, `*from` is told where
 * its frame pointer was found and whether this one's was asked for. */
static inline enum stepped step(uint64_t *address, struct step_state *state,
				struct step_state *from)
{
	uint64_t rule = rule_at(*address);
	unsigned kind = FIELD(rule, KIND_SHIFT, 2);
	uint64_t base = kind == CFI_FRAME ? state->frame : state->stack;
	uint64_t next = base + 8 * FIELD(rule, OFFSET_SHIFT, 15);
	uint64_t below = 8 * FIELD(rule, SAVED_SHIFT, 9);

	from->saved = 0;
	from->by_frame = kind == CFI_FRAME;
	if (!rule || kind >= CFI_END)
		return rule && kind == CFI_END ? STEP_END : STEP_UNKNOWN;
	/* Information that is wrong must not lead us out of the stack. */
	if (next - state->stack - 1 >= FRAME_MOST || next % 8)
		return STEP_UNKNOWN;
	*address = load(next - 8);
	state->stack = next;
	if (below) {
		from->saved = next - below;
		state->frame = load(next - below);
	}
	return STEP_ON;
}

struct hash128 step_hash(void *const *addresses, size_t count)
{
	struct hash128 hash = { HASH_C, HASH_D };

	while (count--) {
		uint64_t address = (uint64_t)(uintptr_t)addresses[count];

		hash.a = hash_fold(address ^ hash.a ^ HASH_A, HASH_B);
		hash.b = hash_fold(address ^ hash.b ^ HASH_C, HASH_D);
	}
	return hash;
}

/* What a frame further out asks of the frame pointer, those within ask, too, that have kept it. */
static void pass_inwards(struct step_walk *walk)
{
	for (uint32_t at = walk->count; at-- > 1;)
		walk->state[at - 1].by_frame |=
			walk->state[at].by_frame && !walk->state[at - 1].saved;
}

bool step_walk(struct step_walk *walk, const struct step_start *start, uint64_t low, uint64_t high,
	       size_t most)
{
	struct step_state state = { .stack = start->stack, .frame = start->frame };
	uint64_t address = start->address;
	enum stepped stepped = STEP_ON;
	uint32_t count;

	if (atomic_load_explicit(&known.word, memory_order_acquire) != unload_word() ||
	    unwind_is_careful())
		return false;
	walk->beyond = false;
	for (count = 0; stepped == STEP_ON && count < most; count++) {
		walk->address[count] = address;
		walk->state[count].stack = state.stack;
		walk->state[count].frame = state.frame;
		walk->beyond = address - 1 - low < high - low;
		if (walk->beyond)
			break;
		stepped = step(&address, &state, &walk->state[count]);
	}
	walk->count = count;
	walk->whole = walk->beyond || stepped == STEP_END;
	walk->hash = step_hash((void **)(void *)walk->address, count);
	pass_inwards(walk);
	return stepped != STEP_UNKNOWN;
}

/* --- rules --- */

/* With `learning`: rules of before something was unloaded go. */
static void begin_anew(void)
{
	uint64_t word = unload_word();

	if (atomic_load_explicit(&known.word, memory_order_relaxed) == word)
		return;
	for (unsigned i = 0; i < LINES * LINE; i++)
		atomic_store_explicit(&known.rules[i / LINE][i % LINE], 0, memory_order_relaxed);
	atomic_store_explicit(&known.word, word, memory_order_release);
}

/* Each step must lead where the unwinder went. */
static void check(const struct step_start *start, void *const *addresses, size_t count, bool whole)
{
	struct step_state state = { .stack = start->stack, .frame = start->frame };
	const struct cfi_rule other = { CFI_OTHER, 0, 0 };
	uint64_t address = start->address;
	struct step_state before;

	for (size_t i = 0; i < count; i++) {
		uint64_t from = address;
		enum stepped stepped = step(&address, &state, &before);
		bool right =
			stepped == STEP_ON
				? i + 1 < count && address == (uint64_t)(uintptr_t)addresses[i + 1]
				: i + 1 == count;

		if (stepped == STEP_UNKNOWN || (i + 1 == count && !whole))
			return;
		if (!right)
			put_rule(from, &other);
		if (!right || stepped == STEP_END)
			return;
	}
}

static bool learn(const struct step_start *start, void *const *addresses, size_t count, bool whole)
{
	bool learnt = false;

	begin_anew();
	for (size_t i = 0; i < count; i++) {
		uint64_t address = (uint64_t)(uintptr_t)addresses[i];
		struct cfi_rule rule;

		if (rule_at(address) || address >> 47)
			continue;
		rule = cfi_find(address);
		put_rule(address, &rule);
		learnt = true;
	}
	if (learnt)
		check(start, addresses, count, whole);
	return learnt;
}

bool step_learn(const struct step_start *start, void *const *addresses, size_t count, bool whole)
{
#if defined(__x86_64__)
	struct signals_deferred deferred;
	bool learnt = false;

	loader_begin(&deferred);
	if (!unwind_is_careful() && !atomic_flag_test_and_set(&known.learning)) {
		learnt = learn(start, addresses, count, whole);
		atomic_flag_clear(&known.learning);
	}
	loader_end(&deferred);
	return learnt;
#else
	(void)start, (void)addresses, (void)count, (void)whole, (void)learn;
	return false;
#endif
}

void step_forked(void)
{
	atomic_flag_clear(&known.learning);
}
