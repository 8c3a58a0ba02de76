/* Expressions of gates and budgets: what is one, what it means, and what is refused. */
#include "check.h"

#include "analyse/categories/glob.h"
#include "analyse/compare/gate.h"
#include "analyse/input/error.h"

static struct gate gate;

static void grows(const char *text)
{
	if (gate_parse(&gate, GATE_GROWTH, text))
		printf("# %s\n", err_text());
	STR(err_text(), "");
}

TEST(limits)
{
	grows("allocated.peak>2%");
	EQ(gate.query.metric, METRIC_ALLOCATED_PEAK);
	OK(gate.percent == 2);
	OK(gate.amount == TRACE_NONE);
	grows(" reserved.peak > 1.5 GiB ");
	EQ(gate.query.metric, METRIC_RESERVED_PEAK);
	OK(gate.percent < 0);
	EQ(gate.amount, 1610612736);
	grows("allocated.exit>2%+1MiB");
	OK(gate.percent == 2);
	EQ(gate.amount, 1048576);
	grows("allocated.exit>1MiB + 2.5 %");
	OK(gate.percent == 2.5);
	EQ(gate.amount, 1048576);
	grows("count>1000");
	EQ(gate.amount, 1000);
	grows(GATE_DEFAULT);
	EQ(gate_parse(&gate, GATE_MOST, "allocated.peak<=30GiB"), 0);
	EQ(gate.amount, 30ull << 30);
}

TEST(narrowings)
{
	grows("allocated.peak[device=0]>1");
	STR(gate.query.by[NARROWING_DEVICE], "0");
	grows("allocated.peak[device=0][pool=torch]>1");
	STR(gate.query.by[NARROWING_POOL], "torch");
	grows("allocated.peak[device=0, pool=torch]>1");
	STR(gate.query.by[NARROWING_DEVICE], "0");
	STR(gate.query.by[NARROWING_POOL], "torch");
	grows("allocated.peak[site=f<...> (a.py), from g[0] (b.py)]>1");
	STR(gate.query.by[NARROWING_SITE], "f<...> (a.py), from g[0] (b.py)");
	grows("allocated.peak[phase=a>b]>3");
	STR(gate.query.by[NARROWING_PHASE], "a>b");
	EQ(gate.amount, 3);
}

TEST(every_prefix_is_refused_or_means_something)
{
	static const char text[] = "allocated.peak[device=0][site=a[1] (b.py)]>2.5%+1.5MiB";
	char prefix[sizeof(text)];

	for (size_t i = 0; i < sizeof(text); i++) {
		int error;

		memcpy(prefix, text, i);
		prefix[i] = '\0';
		error = gate_parse(&gate, GATE_GROWTH, prefix);
		if (i <= strcspn(text, ">") + 1)
			OK(error);
		if (i + 1 == sizeof(text))
			EQ(error, 0);
		if (error)
			OK(strstr(err_text(), "expected METRIC[KEY=VALUE]>LIMIT"));
	}
}

TEST(patterns)
{
	OK(pattern_fits("torch", "torch"));
	OK(!pattern_fits("torch", "torches"));
	OK(pattern_fits("lib*.so.?", "libcublas.so.9"));
	OK(!pattern_fits("lib*.so.?", "libcublas.so.13"));
	OK(pattern_fits("*a*b*c*", "xxaxxbbxcx"));
	OK(!pattern_fits("*a*b*c*", "xxaxxbbx"));
	OK(pattern_fits("*", ""));
	OK(!pattern_fits("?", ""));
	OK(pattern_fits("[x]", "[x]"));
}
