/* Hashes words to 128 bits, or bytes to 64, by products whose halves are XORed (as in wyhash). */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_A 0xa0761d6478bd642fu
#define HASH_B 0xe7037ed1a0b428dbu
#define HASH_C 0x8ebc6af09c88c6e3u
#define HASH_D 0x589965cc75374cc3u

struct hash128 {
	uint64_t a, b;
};

static inline uint64_t hash_fold(uint64_t x, uint64_t y)
{
	unsigned __int128 product = (unsigned __int128)x * y;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_mix(uint64_t x, uint64_t y)
{
	return hash_fold(x ^ HASH_A, y ^ HASH_B);
}

/* h.a and h.b do not depend on each other, so the processor computes them in parallel. */
static inline struct hash128 hash_words(struct hash128 seed, const uint64_t *words, size_t count)
{
	struct hash128 h = { seed.a ^ count, seed.b + count };
	size_t i = 0;

	for (; i + 1 < count; i += 2) {
		h.a = hash_fold(words[i] ^ h.a ^ HASH_A, words[i + 1] ^ HASH_B);
		h.b = hash_fold(words[i] ^ HASH_C, words[i + 1] ^ h.b ^ HASH_D);
	}
	if (i < count) {
		h.a = hash_fold(words[i] ^ h.a ^ HASH_A, HASH_D);
		h.b = hash_fold(words[i] ^ HASH_C, h.b ^ HASH_B);
	}
	return h;
}

static inline uint64_t hash_bytes(const char *bytes, size_t length)
{
	uint64_t h = length * HASH_A;

	for (; length >= 8; bytes += 8, length -= 8) {
		uint64_t word;

		memcpy(&word, bytes, 8);
		h = hash_fold(h ^ word ^ HASH_A, HASH_B);
	}
	if (length) {
		uint64_t word = 0;

		memcpy(&word, bytes, length);
		h = hash_fold(h ^ word ^ HASH_C, HASH_D);
	}
	return hash_fold(h ^ HASH_A, HASH_D);
}
