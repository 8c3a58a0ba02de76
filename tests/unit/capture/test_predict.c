/* Walks that are expected again, on stacks that are written by hand. */
#include "capture/stack/predict.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "unit/chance.h"

enum {
	BEGIN = 0x1000, /* where the first of them returns to */
	LOW = 0x900000,
	HIGH = 0x910000,
	WORDS = 4096,
};

static uint64_t stack[WORDS];

static uint64_t place(unsigned word)
{
	return (uint64_t)(uintptr_t)(stack + word);
}

static struct step_start begin_at(unsigned word)
{
	return (struct step_start){ .address = BEGIN, .stack = place(word), .frame = 77 };
}

/*
 * A walk of `count` frames, `apart` words from each to the next, and of one more in [LOW, HIGH) if
 * `cut`. Its return addresses are written where it found them.
 */
static struct step_walk *walk_from(unsigned word, unsigned count, unsigned apart, bool cut)
{
	struct step_walk *walk = calloc(1, sizeof(*walk));

	walk->count = count;
	walk->whole = true;
	walk->beyond = cut;
	walk->hash = (struct hash128){ count, count };
	for (unsigned i = 0; i < count + cut; i++) {
		walk->address[i] = i == count ? LOW + 64 : BEGIN + 16 * i;
		walk->state[i].stack = place(word + i * apart);
		walk->state[i].frame = 77;
		if (i)
			stack[word + i * apart - 1] = walk->address[i];
	}
	return walk;
}

static const struct predict_path *ask(struct predict_memory *memory, struct step_start start,
				      bool cut)
{
	return predict(memory, &start, cut ? LOW : 0, cut ? HIGH : 0, 0);
}

/* Until what is expected does not depend any more on what came before the first of them. */
static const struct predict_path *learn(struct predict_memory *memory, struct step_walk *walk)
{
	struct step_start start = { walk->address[0], walk->state[0].stack, walk->state[0].frame };
	const struct predict_path *path = NULL;

	for (unsigned i = 0; i < 24; i++) {
		path = ask(memory, start, walk->beyond);
		if (!path)
			predict_learn(memory, walk);
	}
	return path;
}

static struct predict_memory *fresh(void)
{
	memset(stack, 0, sizeof(stack));
	return calloc(1, sizeof(struct predict_memory));
}

TEST(what_was_learnt_is_expected)
{
	struct predict_memory *memory = fresh();
	struct step_walk *walk = walk_from(100, 20, 5, false);
	const struct predict_path *path;
	void *list[20];

	OK(!ask(memory, begin_at(100), false));
	path = learn(memory, walk);
	OK(path);
	EQ(path->hash.a, 20);
	EQ(path->hash.b, 20);
	EQ(predict_list(path, list), 20);
	for (unsigned i = 0; i < 20; i++)
		EQ((uintptr_t)list[i], BEGIN + 16 * i);
	OK(!ask(memory, begin_at(101), false));
	free(walk);
	free(memory);
}

TEST(each_return_address_counts)
{
	struct predict_memory *memory = fresh();
	struct step_walk *walk = walk_from(100, 20, 5, false);

	for (unsigned i = 1; i < 20; i++) {
		uint64_t *word = &stack[100 + 5 * i - 1];

		OK(learn(memory, walk));
		*word += 4;
		OK(!ask(memory, begin_at(100), false));
		*word -= 4;
	}
	/* What lies between them does not. */
	OK(learn(memory, walk));
	stack[100 + 7] = 1234;
	OK(ask(memory, begin_at(100), false));
	free(walk);
	free(memory);
}

TEST(a_frame_pointer_counts_where_it_is_used)
{
	struct predict_memory *memory = fresh();
	struct step_walk *walk = walk_from(100, 6, 5, false);
	struct step_start other = begin_at(100);

	for (unsigned i = 1; i < 4; i += 2) {
		walk->state[i].saved = place(100 + 5 * i + 2);
		stack[100 + 5 * i + 2] = 77;
	}
	walk->state[4].by_frame = true;
	OK(learn(memory, walk));
	stack[100 + 5 + 2] = 99;
	other.frame = 99;
	OK(ask(memory, other, false));
	stack[100 + 15 + 2] = 99;
	OK(!ask(memory, begin_at(100), false));

	walk->state[0].by_frame = true;
	stack[100 + 15 + 2] = 77;
	predict_forget(memory);
	OK(learn(memory, walk));
	OK(!ask(memory, other, false));
	free(walk);
	free(memory);
}

TEST(the_evaluation_loop_is_left_anywhere)
{
	struct predict_memory *memory = fresh();
	struct step_walk *walk = walk_from(100, 3, 5, true);
	uint64_t *last = &stack[100 + 5 * 3 - 1];

	OK(learn(memory, walk));
	*last = LOW + 1;
	OK(ask(memory, begin_at(100), true));
	*last = HIGH;
	OK(ask(memory, begin_at(100), true));
	*last = LOW;
	OK(!ask(memory, begin_at(100), true));
	*last = HIGH + 1;
	OK(!ask(memory, begin_at(100), true));
	*last = LOW + 1;
	OK(learn(memory, walk));
	OK(!ask(memory, begin_at(100), false));
	free(walk);
	free(memory);
}

TEST(nothing_holds_once_it_is_forgotten)
{
	struct predict_memory *memory = fresh();
	struct step_walk *walk = walk_from(100, 20, 5, false);

	OK(learn(memory, walk));
	predict_forget(memory);
	OK(!ask(memory, begin_at(100), false));
	OK(learn(memory, walk));
	/* Nor when the evaluation loop is another one. */
	free(walk);
	walk = walk_from(100, 3, 5, true);
	OK(learn(memory, walk));
	OK(!predict(memory, &(struct step_start){ BEGIN, place(100), 77 }, LOW - 64, HIGH, 0));
	OK(!ask(memory, begin_at(100), true));
	free(walk);
	free(memory);
}

TEST(walks_that_do_not_fit_are_not_kept)
{
	struct predict_memory *memory = fresh();
	struct step_walk *walk = walk_from(100, PREDICT_WORDS + 2, 5, false);

	OK(!learn(memory, walk));
	free(walk);
	walk = walk_from(100, PREDICT_WORDS + 1, 5, false);
	OK(learn(memory, walk));
	walk->whole = false;
	predict_forget(memory);
	OK(!learn(memory, walk));
	OK(!predict_learn(memory, walk));
	walk->whole = true;
	OK(predict_learn(memory, walk));
	walk->state[1].stack += 65536 * 8;
	predict_forget(memory);
	OK(!learn(memory, walk));
	OK(!predict_learn(memory, walk));
	free(walk);
	free(memory);
}

/* The stack as it is when this walk is made. Unknown ones are learnt; false for such. */
static bool walk_on(struct predict_memory *memory, struct step_walk *walk, uint32_t context)
{
	struct step_start start = begin_at(100);

	for (unsigned at = 1; at < walk->count; at++)
		stack[100 + 5 * at - 1] = walk->address[at];
	stack[100 + 5 * walk->count - 1] = 0;
	if (predict(memory, &start, 0, 0, context))
		return true;
	predict_learn(memory, walk);
	return false;
}

TEST(behind_the_same_walks_the_line_of_python_decides)
{
	enum { KINDS = PREDICT_SET - 1, BEFORE = 12, ROUNDS = 60 }; /* a place is the usual one's */
	struct predict_memory *memory = fresh();
	struct step_walk *usual = walk_from(100, 20, 5, false);
	struct step_walk *kinds[KINDS];
	unsigned missed = 0;
	uint64_t chance = 1;

	for (unsigned i = 0; i < KINDS; i++) {
		kinds[i] = walk_from(100, 5 + i, 5, false);
		kinds[i]->address[1] += 0x1000 * (i + 1); /* who called, the stack says */
	}
	for (unsigned i = 0; i < ROUNDS; i++) {
		unsigned kind = (unsigned)chance_below(&chance, KINDS);

		for (unsigned at = 0; at < BEFORE; at++)
			walk_on(memory, usual, 7);
		missed += !walk_on(memory, kinds[kind], 100 + kind) && i >= ROUNDS / 2;
		memory->expected->stack = 1 + kind; /* as who looks it up does */
	}
	EQ(missed, 0);
	/* Each has its place, and what was written there. */
	for (unsigned i = 0; i < KINDS; i++) {
		for (unsigned at = 0; at < BEFORE; at++)
			walk_on(memory, usual, 7);
		OK(walk_on(memory, kinds[i], 100 + i));
		EQ(memory->expected->stack, 1 + i);
		free(kinds[i]);
	}
	free(usual);
	free(memory);
}

TEST(a_loop_of_many_walks_is_known_by_what_came_before)
{
	enum { LOOP = 300, ROUNDS = 4 };
	static struct step_walk *walks[LOOP];
	struct predict_memory *memory = fresh();
	unsigned missed = 0;

	/* All begin at the same place: what tells them apart lies further out, and in the order. */
	for (unsigned i = 0; i < LOOP; i++)
		walks[i] = walk_from(100, 3 + i % 90, 5, false);
	for (unsigned i = 0; i < ROUNDS * LOOP; i++) {
		missed += !walk_on(memory, walks[i % LOOP], 0) && i >= LOOP;
		memory->expected->stack = 1; /* the place is taken, says who looks it up */
	}
	OK(missed < LOOP / 10);
	for (unsigned i = 0; i < LOOP; i++)
		free(walks[i]);
	free(memory);
}

/* A shallower stack that has the same place: what lay above it may be no memory any more. */
TEST(nothing_is_read_beyond_what_differs)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct predict_memory *memory = fresh();
	struct step_walk *walk = walk_from(0, 40, 5, false);
	uint64_t *words = (uint64_t *)(void *)(pages + page) - 20;
	struct step_start start = { BEGIN, (uint64_t)(uintptr_t)words, 77 };

	OK(pages != MAP_FAILED);
	memcpy(words, stack, 300 * sizeof(*stack));
	for (unsigned i = 0; i < 40; i++)
		walk->state[i].stack = (uint64_t)(uintptr_t)(words + 5 * i);
	OK(learn(memory, walk));
	EQ(munmap(pages + page, page), 0);
	words[4] = 0;
	OK(!ask(memory, start, false));
	munmap(pages, page);
	free(walk);
	free(memory);
}
