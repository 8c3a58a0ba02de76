/* The map against an array, and read while it is written. */
#include "check.h"

#include <pthread.h>

#include "base/mem/hash.h"
#include "base/mem/map.h"
#include "unit/chance.h"

enum { KEYS = 100000 };

static uint64_t keys[KEYS];

static void make_keys(bool hashed)
{
	uint64_t chance = 3;

	for (unsigned i = 0; i < KEYS; i++)
		keys[i] = hashed ? chance_next(&chance) : (uint64_t)i << 20;
}

static void fill(bool hashed, unsigned count)
{
	struct map map = { NULL, 0 };

	make_keys(hashed);
	EQ(map_get(&map, keys[0]), 0);
	for (unsigned i = 0; i < count; i++) {
		EQ(map_get(&map, keys[i]), 0);
		OK(map_put(&map, keys[i], i + 1));
		EQ(map_get(&map, keys[i]), i + 1);
		EQ(map_get(&map, keys[i / 2]), i / 2 + 1);
	}
	for (unsigned i = 0; i < count; i++)
		EQ(map_get(&map, keys[i]), i + 1);
	EQ(map.used, count);
	map_clear(&map);
	EQ(map.used, 0);
	EQ(map_get(&map, keys[1]), 0);
}

TEST(hashed_keys)
{
	fill(true, KEYS);
}

/* Slow, for keys are expected to be hashes, but right. */
TEST(keys_that_differ_in_high_bits_only)
{
	fill(false, KEYS / 20);
}

TEST(keys_zero_and_last_are_keys_like_others)
{
	struct map map = { NULL, 0 };

	OK(map_put(&map, 0, 5));
	OK(map_put(&map, UINT64_MAX, UINT32_MAX));
	EQ(map_get(&map, 0), 5);
	EQ(map_get(&map, UINT64_MAX), UINT32_MAX);
	EQ(map_get(&map, 1), 0);
	map_clear(&map);
}

static struct map shared;
static _Atomic unsigned written;

/* What was written before is found, whatever the writer does now. */
static void *read_along(void *seed)
{
	uint64_t chance = (uintptr_t)seed;
	unsigned until;

	while ((until = written) < KEYS) {
		unsigned i = (unsigned)chance_below(&chance, KEYS);
		uint32_t value = map_get(&shared, keys[i]);

		if (value ? value != i + 1 : i < until)
			return &shared;
	}
	return NULL;
}

TEST(readers_need_no_lock)
{
	pthread_t threads[3];
	void *wrong;

	make_keys(true);
	for (uintptr_t i = 0; i < 3; i++)
		EQ(pthread_create(&threads[i], NULL, read_along, (void *)(i + 1)), 0);
	for (unsigned i = 0; i < KEYS; i++) {
		OK(map_put(&shared, keys[i], i + 1));
		written = i + 1;
	}
	for (unsigned i = 0; i < 3; i++) {
		pthread_join(threads[i], &wrong);
		OK(!wrong);
	}
	map_clear(&shared);
}

TEST(a_value_is_replaced_in_its_place)
{
	struct map map = { 0 };

	make_keys(true);
	for (unsigned i = 0; i < KEYS; i++)
		OK(map_put(&map, keys[i], i + 1));
	for (unsigned i = 0; i < KEYS; i += 3)
		OK(map_put(&map, keys[i], KEYS + i));
	EQ(map.used, (size_t)KEYS);
	for (unsigned i = 0; i < KEYS; i++)
		EQ(map_get(&map, keys[i]), i % 3 ? i + 1 : KEYS + i);
	map_clear(&map);
}

TEST(hashes_tell_lengths_apart)
{
	static const char zeros[64];
	uint64_t seen[64];

	for (size_t i = 0; i < 64; i++) {
		seen[i] = hash_bytes(zeros, i);
		for (size_t k = 0; k < i; k++)
			OK(seen[k] != seen[i]);
	}
}

TEST(hashes_of_words_differ_by_any_bit)
{
	uint64_t words[5] = { 1, 2, 3, 4, 5 };
	struct hash128 first = hash_words((struct hash128){ 1, 2 }, words, 5);

	for (unsigned i = 0; i < 5 * 64; i++) {
		struct hash128 other;

		words[i / 64] ^= 1ull << i % 64;
		other = hash_words((struct hash128){ 1, 2 }, words, 5);
		OK(other.a != first.a && other.b != first.b);
		words[i / 64] ^= 1ull << i % 64;
	}
}
