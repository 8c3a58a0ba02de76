/* Modules and stacks that come again under other addresses. */
#include "check.h"

#include "unit/recorder.h"

static struct recorder r;

static uint32_t module_at(uint64_t base, const char *build_id)
{
	struct spool_module module = { .base = base, .low = base, .high = base + 0x4000 };

	module.path = intern_text(&r.intern, "/opt/plugin.so");
	module.build_id = intern_text(&r.intern, build_id);
	return intern_module(&r.intern, &module);
}

/* A stack of one frame, known by its address and by how often something was unloaded. */
static uint32_t stack_of(uint32_t frame, uint64_t address, uint64_t unloaded)
{
	struct hash128 hash = { address * HASH_A, address ^ unloaded * HASH_B };
	struct intern_steps steps = { .frames = &frame, .native = 1, .known = unloaded != 0 };
	uint32_t id = intern_stack_find(&r.intern, hash);

	if (id)
		return id;
	id = intern_stack(&r.intern, hash, &steps);
	OK(id);
	EQ(intern_stack_find(&r.intern, hash), id);
	return id;
}

static uint32_t frame_in(uint32_t module, uint64_t offset)
{
	struct spool_frame frame = { .language = FRAME_NATIVE, .module = module };

	frame.offset = offset;
	return intern_frame(&r.intern, &frame);
}

TEST(a_file_loaded_again_is_the_same_module)
{
	uint32_t first;

	OK(!recorder_open(&r, NULL, 1000, 1));
	first = module_at(0x7f1000000000, "aa");
	EQ(module_at(0x7f1000000000, "aa"), first);
	EQ(module_at(0x7f2000000000, "aa"), first);
	OK(module_at(0x7f1000000000, "bb") != first);
	recorder_close(&r);
}

TEST(two_libraries_that_take_turns_at_an_address_have_one_stack_each)
{
	uint32_t frames[2];
	uint32_t stacks[2];
	uint64_t rows;

	OK(!recorder_open(&r, NULL, 1000, 1));
	for (unsigned i = 0; i < 2; i++)
		frames[i] = frame_in(module_at(0x7f1000000000, i ? "bb" : "aa"), 0x777);
	stacks[0] = stack_of(frames[0], 0x7f1000000777, 0);
	stacks[1] = stack_of(frames[1], 0x7f1000000777, 1);
	OK(stacks[0] != stacks[1]);
	/* The address is the other one's now: the first is found by its steps. */
	stacks[0] = stack_of(frames[0], 0x7f1000000777, 2);
	OK(stacks[0] != stacks[1]);
	rows = spool_count(&r.spool, SPOOL_STACK);
	for (uint64_t i = 3; i < 500; i++)
		EQ(stack_of(frames[i % 2], 0x7f1000000777, i), stacks[i % 2]);
	EQ(spool_count(&r.spool, SPOOL_STACK), rows);
	recorder_close(&r);
}

TEST(what_stays_keeps_its_stack_whatever_is_unloaded_beside_it)
{
	uint32_t frame;
	uint32_t stack;
	size_t used = 0;

	OK(!recorder_open(&r, NULL, 1000, 1));
	frame = frame_in(module_at(0x7f1000000000, "aa"), 0x888);
	stack = stack_of(frame, 0x7f1000000888, 0);
	for (uint64_t i = 1; i < 500; i++) {
		EQ(stack_of(frame, 0x7f1000000888, i), stack);
		if (i == 1)
			used = r.intern.stacks.used;
	}
	EQ(r.intern.stacks.used, used);
	recorder_close(&r);
}

TEST(a_library_that_moves_keeps_its_stacks)
{
	uint32_t frame;
	uint32_t stack;

	OK(!recorder_open(&r, NULL, 1000, 1));
	frame = frame_in(module_at(0x7f1000000000, "aa"), 0x999);
	stack = stack_of(frame, 0x7f1000000999, 1);
	for (uint64_t i = 2; i < 50; i++)
		EQ(stack_of(frame, 0x7f1000000999 + i * 0x10000, i), stack);
	recorder_close(&r);
}
