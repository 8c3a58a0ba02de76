/* Growth: planted slopes are found, whatever is healthy is not, over many random series. */
#include "check.h"

#include "analyse/findings/growth.h"
#include "unit/chance.h"

enum { N = 50, RUNS = 400, MIB = 1 << 20 };

static uint64_t chance = 1;
static uint64_t series[GROWTH_MOST];

static bool grows(size_t n, const uint64_t *born)
{
	struct growth_trend trend;

	growth_find(&trend, series, n, born, 100);
	return trend.grows;
}

/* What would be there if each value behind the warm-up had kept so much. */
static const uint64_t *born_of(size_t n, uint64_t a_value)
{
	static uint64_t born[GROWTH_QUARTERS];

	for (size_t q = 0; q < GROWTH_QUARTERS; q++)
		born[q] = (n - growth_warm(n)) / GROWTH_QUARTERS * a_value;
	return born;
}

/* --- what grows --- */

TEST(a_thousandth_a_step_is_found_within_fifty)
{
	struct growth_trend trend;

	for (size_t i = 0; i < N; i++)
		series[i] = 1000 * MIB + i * MIB;
	growth_find(&trend, series, N, NULL, 1000);
	OK(trend.grows);
	EQ(trend.slope, MIB);
	EQ(trend.values, 40);
	EQ(trend.rose, 39);
	EQ(trend.bytes, 39 * MIB);
	OK(trend.tau == 1);
	OK(trend.p < 1e-10);
}

TEST(growth_is_found_by_the_shortest_series)
{
	for (size_t n = 2; n <= GROWTH_LEAST; n++) {
		for (size_t i = 0; i < n; i++)
			series[i] = 7 + i;
		EQ(grows(n, NULL), n == GROWTH_LEAST);
	}
}

TEST(a_leak_each_fifth_step_is_found)
{
	for (size_t i = 0; i < 100; i++)
		series[i] = 5000 + i / 5 * 512;
	OK(grows(100, NULL));
}

TEST(a_leak_beneath_noise_is_found_when_its_blocks_are_still_there)
{
	int found = 0;

	for (int run = 0; run < RUNS; run++) {
		for (size_t i = 0; i < N; i++)
			series[i] = 1000 + i * 100 + chance_below(&chance, 400);
		found += grows(N, born_of(N, 100));
	}
	OK(found > RUNS * 95 / 100);
}

TEST(random_leaks_are_found)
{
	int found = 0;

	for (int run = 0; run < RUNS; run++) {
		uint64_t sum = 0;

		for (size_t i = 0; i < 100; i++)
			series[i] = sum += chance_below(&chance, 3) ? 0 : 512;
		found += grows(100, born_of(100, 170));
	}
	OK(found > RUNS * 65 / 100); /* when in doubt it is silent */
}

TEST(the_slope_ignores_outliers)
{
	struct growth_trend trend;

	for (size_t i = 0; i < N; i++)
		series[i] = 1000 + 10 * i + (i % 10 == 3 ? 5000 : 0);
	growth_find(&trend, series, N, born_of(N, 10), 1);
	OK(trend.grows);
	OK(trend.slope > 9.4 && trend.slope < 10.6);
}

/* --- what does not --- */

TEST(what_stays_is_healthy)
{
	for (size_t i = 0; i < N; i++)
		series[i] = 4096;
	OK(!grows(N, born_of(N, 4096)));
}

TEST(what_shrinks_is_healthy)
{
	for (size_t i = 0; i < N; i++)
		series[i] = 4096 * (N - i);
	OK(!grows(N, NULL));
}

TEST(one_step_up_is_healthy_wherever_it_is)
{
	for (size_t at = 0; at < N; at++) {
		for (size_t i = 0; i < N; i++)
			series[i] = i < at ? 1000 : 900000;
		OK(!grows(N, NULL));
	}
}

TEST(two_and_three_steps_up_are_healthy)
{
	for (int run = 0; run < RUNS; run++) {
		size_t at[3];

		for (size_t k = 0; k < 3; k++)
			at[k] = chance_below(&chance, N);
		for (size_t i = 0; i < N; i++)
			series[i] =
				1000 + (i > at[0]) * 100 + (i > at[1]) * 100 + (i > at[2]) * 100;
		OK(!grows(N, NULL));
	}
}

TEST(what_saturates_is_healthy)
{
	for (size_t full = 1; full < N * 4 / 5; full++) {
		for (size_t i = 0; i < N; i++)
			series[i] = 4096 * (i < full ? i : full);
		OK(!grows(N, NULL));
	}
}

/* A cache of keys that are asked for at random: each new one is kept. */
TEST(a_cache_that_fills_at_random_is_healthy)
{
	int alarms = 0;

	for (int run = 0; run < RUNS; run++) {
		bool known[64] = { false };
		uint64_t sum = 0;

		for (size_t i = 0; i < 100; i++) {
			for (int ask = 0; ask < 4; ask++) {
				size_t key = chance_below(&chance, 64);

				sum += known[key] ? 0 : 4096;
				known[key] = true;
			}
			series[i] = sum;
		}
		alarms += grows(100, NULL);
	}
	EQ(alarms, 0);
}

TEST(what_goes_round_is_healthy)
{
	for (size_t period = 2; period < N; period++) {
		for (size_t shift = 0; shift < period; shift++) {
			for (size_t i = 0; i < N; i++)
				series[i] = 1000 + 100 * ((i + shift) % period);
			/* A climb that nothing in the series ends cannot be told from a leak. */
			if ((growth_warm(N) + shift) / period == (N - 1 + shift) / period)
				continue;
			OK(!grows(N, NULL));
		}
	}
}

TEST(what_scatters_is_healthy)
{
	int alarms = 0;

	for (int run = 0; run < RUNS * 10; run++) {
		for (size_t i = 0; i < N; i++)
			series[i] = 1000 + chance_below(&chance, 100000);
		alarms += grows(N, NULL);
		alarms += grows(N, born_of(N, 10));
	}
	EQ(alarms, 0);
}

/* A queue: its length depends on what it was, which fools every test of trends alone. */
TEST(a_queue_is_healthy)
{
	const uint64_t gone[GROWTH_QUARTERS] = { 0, 0, 0, 5000 };
	int alarms = 0;

	for (int run = 0; run < RUNS * 10; run++) {
		int64_t length = 30;

		for (size_t i = 0; i < 100; i++) {
			length += (int64_t)chance_below(&chance, 7) - 3;
			length = length < 0 ? 0 : length;
			series[i] = (uint64_t)length * 512;
		}
		alarms += grows(100, gone);
	}
	EQ(alarms, 0);
}

TEST(what_chance_can_do_depends_on_how_many_were_tried)
{
	struct growth_trend one, many;

	for (size_t i = 0; i < GROWTH_LEAST; i++)
		series[i] = 100 + i;
	growth_find(&one, series, GROWTH_LEAST, NULL, 1);
	growth_find(&many, series, GROWTH_LEAST, NULL, 1000);
	OK(one.grows);
	OK(!many.grows);
	OK(many.p > one.p * 900);
}
