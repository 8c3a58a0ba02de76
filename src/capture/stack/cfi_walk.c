/* Walks the native stack frame by frame, by a stored rule for each return address. */
#include "capture/stack/cfi_walk.h"

#include <stdatomic.h>

#include "capture/loader/loader.h"
#include "capture/stack/modules.h"
#include "capture/stack/unwind.h"

/* A line of the table has eight rules and fills a cache line. A rule's key is its address times an
 * odd number, cut to 47 bits: the high eleven bits choose the line, the other 36 are the tag. */
enum {
	LINES = 1 << 11,
	LINE = 8,
	TAG_BITS = 36,
	FRAME_MOST = 1 << 18, /* largest size of a frame, in bytes */
};

static struct {
	_Alignas(64) _Atomic uint64_t rules[LINES][LINE];
	_Atomic uint64_t word; /* the rules are valid while unload_word() returns this */
	atomic_flag learning;  /* set while a thread adds rules */
} known = { .learning = ATOMIC_FLAG_INIT };

static inline uint64_t spread(uint64_t address)
{
	return address * 0x9e3779b97f4a7c15u & ((1ull << 47) - 1);
}

static inline union cfi_rule rule_at(uint64_t address)
{
	uint64_t key = spread(address);
	const _Atomic uint64_t *line = known.rules[key >> TAG_BITS];

	for (unsigned i = 0; i < LINE && !(address >> 47); i++) {
		union cfi_rule rule = { atomic_load_explicit(&line[(key + i) % LINE],
							     memory_order_relaxed) };

		if (rule.tag == key % (1ull << TAG_BITS) && rule.known)
			return rule;
		if (!rule.word)
			break;
	}
	return (union cfi_rule){ 0 };
}

/* Stores a rule, in place of another if the line is full. `learning` must be set. */
static void put_rule(uint64_t address, union cfi_rule rule)
{
	uint64_t key = spread(address);
	_Atomic uint64_t *line = known.rules[key >> TAG_BITS];
	unsigned place = key % LINE;

	rule.known = 1;
	rule.tag = key;
	for (unsigned i = 0; i < LINE; i++) {
		unsigned at = (unsigned)((key + i) % LINE);
		union cfi_rule there = { atomic_load_explicit(&line[at], memory_order_relaxed) };

		if (!there.word || there.tag == rule.tag) {
			place = at;
			break;
		}
	}
	atomic_store_explicit(&line[place], rule.word, memory_order_relaxed);
}

static inline uint64_t load(uint64_t address)
{
	return *(const uint64_t *)(uintptr_t)address;
}

enum stepped { STEP_ON, STEP_END, STEP_UNKNOWN };

/* Steps from the frame at *address to its caller: *address and *state become the caller's. Sets
 * from->saved, and from->by_frame if the step used the frame pointer. */
static inline enum stepped step(uint64_t *address, struct step_state *state,
				struct step_state *from)
{
	union cfi_rule rule = rule_at(*address);
	uint64_t base = rule.kind == CFI_FRAME ? state->frame : state->stack;
	uint64_t next = base + 8ull * rule.offset;

	from->saved = 0;
	from->by_frame = rule.kind == CFI_FRAME;
	if (rule.kind == CFI_OTHER || rule.kind == CFI_END)
		return rule.kind == CFI_END ? STEP_END : STEP_UNKNOWN;
	/* Wrong call frame information must not lead out of the stack. */
	if (next - state->stack - 1 >= FRAME_MOST || next % 8)
		return STEP_UNKNOWN;
	*address = load(next - 8);
	state->stack = next;
	if (rule.saved) {
		from->saved = next - 8ull * rule.saved;
		state->frame = load(from->saved);
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

/* Sets by_frame also in frames that save no frame pointer and whose caller has by_frame set. */
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

/* Clears all rules if a library was unloaded after they were made. `learning` must be set. */
static void begin_anew(void)
{
	uint64_t word = unload_word();

	if (atomic_load_explicit(&known.word, memory_order_relaxed) == word)
		return;
	for (unsigned i = 0; i < LINES * LINE; i++)
		atomic_store_explicit(&known.rules[i / LINE][i % LINE], 0, memory_order_relaxed);
	atomic_store_explicit(&known.word, word, memory_order_release);
}

static void check(const struct step_start *start, void *const *addresses, size_t count, bool whole)
{
	struct step_state state = { .stack = start->stack, .frame = start->frame };
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
			put_rule(from, (union cfi_rule){ .kind = CFI_OTHER });
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

		if (rule_at(address).word || address >> 47)
			continue;
		put_rule(address, cfi_find(address));
		learnt = true;
	}
	if (learnt)
		check(start, addresses, count, whole);
	return learnt;
}

bool step_learn(const struct step_start *start, void *const *addresses, size_t count, bool whole)
{
	LOADER_CALLED();
	bool learnt = false;

	if (!unwind_is_careful() && !atomic_flag_test_and_set(&known.learning)) {
		learnt = learn(start, addresses, count, whole);
		atomic_flag_clear(&known.learning);
	}
	return learnt;
}

void step_forked(void)
{
	atomic_flag_clear(&known.learning);
}
