/* The processor's clock beside the real one, read by a thread that is interrupted all the time. */
#include "capture/loader/tsc_clock.h"

#include <signal.h>
#include <sys/time.h>

#include "check.h"

enum { LOOKS = 300000, EVERY_US = 200, LATE_NS = 60000 };

static volatile sig_atomic_t came;

/* Comes back so late that clocks read before and after it say nothing of each other. */
static void late(int signal)
{
	uint64_t until = clock_now() + LATE_NS;

	(void)signal;
	while (clock_now() < until)
		;
	came++;
}

static void interrupt(suseconds_t every)
{
	struct itimerval timer = { .it_interval.tv_usec = every, .it_value.tv_usec = every };
	struct sigaction action = { .sa_handler = late };

	EQ(sigaction(SIGALRM, &action, NULL), 0);
	EQ(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

TEST(interruptions_do_not_cost_the_trust_in_the_clock)
{
	uint64_t last = tsc_init();
	uint64_t ns;
	bool back = false;

	while (clock_now() < last + 2000000) /* a rate is told from no less than a millisecond */
		;
	last = tsc_look();
	interrupt(EVERY_US);
	for (unsigned i = 0; i < LOOKS || came < 100; i++) {
		ns = i % 2 ? tsc_look() : tsc_ns();
		back = back || ns < last;
		last = ns;
	}
	interrupt(0);
	OK(!back);
	OK(!ticks_steady() || atomic_load(&tsc_rate));
}
