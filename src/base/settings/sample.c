/*
 * Samples blocks by their bytes. Logarithm and exponential are computed here, because the library
 * links only libc; their 40 correct bits are more than an estimate from samples needs.
 */
#include "base/settings/sample.h"

#include <string.h>

#include "base/mem/hash.h"

static const double ln_2 = 0.69314718055994530942;

/* A random number above 0 and up to 1, with 53 bits, by xorshift64* (Vigna, 2016). */
static double uniform(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (double)((*state * 0x2545f4914f6cdd1du >> 11) + 1) / (double)(1ull << 53);
}

/* The natural logarithm of x, 0 < x <= 1. With x = m 2^e and m between 1/sqrt 2 and sqrt 2, it is 2
 * artanh((m - 1) / (m + 1)) + e ln 2. */
static double natural_log(double x)
{
	double power, square;
	double sum = 0;
	uint64_t bits;
	int exponent;

	memcpy(&bits, &x, sizeof(bits));
	exponent = (int)(bits >> 52) - 1022;
	bits = (bits & ((1ull << 52) - 1)) | 1022ull << 52; /* the mantissa, from 1/2 up to 1 */
	memcpy(&x, &bits, sizeof(x));
	if (x < 0.70710678118654752440) {
		x *= 2;
		exponent--;
	}
	power = (x - 1) / (x + 1);
	square = power * power;
	for (int i = 1; i < 20; i += 2) {
		sum += power / i;
		power *= square;
	}
	return 2 * sum + exponent * ln_2;
}

/* 1 - exp(-x) for x > 0: by its series up to 1/2, else by 1 - e^-2y = (1 - e^-y)(1 + e^-y). */
static double probability(double x)
{
	int halvings = 0;
	double term, sum;

	if (x > 50)
		return 1;
	while (x > 0.5) {
		x /= 2;
		halvings++;
	}
	term = sum = x;
	for (int i = 2; i < 16; i++) {
		term *= -x / i;
		sum += term;
	}
	while (halvings--)
		sum *= 2 - sum;
	return sum;
}

static uint64_t next_point(struct sample *sample, uint64_t interval)
{
	double distance = -natural_log(uniform(&sample->chance)) * (double)interval;

	return (uint64_t)distance + 1;
}

bool sample_take(struct sample *sample, uint64_t seed, uint64_t size, uint64_t interval)
{
	if (!sample->chance) {
		sample->chance = hash_mix(seed, interval) | 1;
		sample->left = next_point(sample, interval);
	}
	if (size < sample->left) {
		sample->left -= size;
		return false;
	}
	/* The next distance may begin after the block, because a Poisson process is memoryless. */
	sample->left = next_point(sample, interval);
	return size != 0;
}

struct sample_weight sample_weigh(uint64_t size, uint64_t interval)
{
	double p = size && interval ? probability((double)size / (double)interval) : 1;

	return (struct sample_weight){
		.bytes = (uint64_t)((double)size / p + 0.5),
		.parts = (uint64_t)(SAMPLE_PARTS / p + 0.5),
	};
}
