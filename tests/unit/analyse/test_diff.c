/*
 * Two runs compared: made-up documents of a few sites, so that what must be found is known.
 *
 * A site is a line of `struct made`; its function is its name, in one program "prog".
 */
#include "check.h"

#include <fcntl.h>

#include "analyse/compare/diff.h"
#include "analyse/input/error.h"
#include "base/text/text.h"
#include "render/compare/diff.h"
#include "unit/chance.h"

enum { SITES = 8, RUNS = 6 };

struct made {
	const char *name; /* NULL ends the list */
	int64_t peak, count, live, live_count, size;
	uint64_t lifetime;
};

static char folder[64];
static char paths[RUNS][128];
static unsigned made_n;
static struct diff diff;

static void sum(FILE *file, const char *key, int64_t peak, int64_t live)
{
	fprintf(file, "\"%s\":{\"peak_bytes\":%lld,\"peak_t\":1,\"exit_bytes\":%lld}", key,
		(long long)peak, (long long)live);
}

static void write_sites(FILE *file, const struct made *sites)
{
	fputs("\"frames\":[", file);
	for (size_t i = 0; sites[i].name; i++)
		fprintf(file,
			"%s{\"language\":\"native\",\"function\":\"%s\",\"module\":0,"
			"\"offset\":\"0x%zx\",\"file\":null,\"line\":null}",
			i ? "," : "", sites[i].name, 4096 + 16 * i);
	fputs("],\"stacks\":[", file);
	for (size_t i = 0; sites[i].name; i++)
		fprintf(file, "%s{\"frames\":[%zu]}", i ? "," : "", i);
	fputs("],\"sites\":[", file);
	for (size_t i = 0; sites[i].name; i++)
		fprintf(file,
			"%s{\"site\":\"old "
			"name\",\"stacks\":[%zu],\"allocations\":%lld,\"frees\":%lld,"
			"\"bytes\":%lld,\"live_bytes\":%lld,\"peak_bytes\":%lld,"
			"\"lifetime_min_ns\":1,\"lifetime_max_ns\":%llu}",
			i ? "," : "", i, (long long)sites[i].count,
			(long long)(sites[i].count - sites[i].live_count),
			(long long)(sites[i].count * sites[i].size), (long long)sites[i].live,
			(long long)sites[i].peak, (unsigned long long)sites[i].lifetime);
}

/* A run of the sites, with `extra` bytes at the peak and at exit that no site answers for. */
static const char *make(const struct made *sites, int64_t extra)
{
	int64_t peak = extra;
	int64_t live = extra;
	int64_t count = 0;
	const char *comma = "";
	FILE *file;

	if (!made_n) {
		text_copy(folder, sizeof(folder), "/tmp/memtrace-test-XXXXXX");
		OK(mkdtemp(folder));
	}
	snprintf(paths[made_n], sizeof(paths[0]), "%s/%u.json", folder, made_n);
	file = fopen(paths[made_n], "w");
	OK(file);
	for (size_t i = 0; sites[i].name; i++) {
		peak += sites[i].peak;
		live += sites[i].live;
		count += sites[i].count;
	}
	fputs("{\"schema\":\"memtrace/1\",\"summary\":{\"devices\":[{\"device\":0,", file);
	sum(file, "allocated", peak, live);
	fputc(',', file);
	sum(file, "reserved", 0, 0);
	fprintf(file,
		",\"allocations\":%lld,\"frees\":0}]},\"peaks\":[{\"device\":0,\"pool\":null,"
		"\"metric\":\"allocated\",\"t\":1,\"bytes\":%lld,\"stacks\":[",
		(long long)count, (long long)peak);
	for (size_t i = 0; sites[i].name; i++) {
		if (!sites[i].peak)
			continue;
		fprintf(file, "%s{\"stack\":%zu,\"bytes\":%lld,\"count\":1}", comma, i,
			(long long)sites[i].peak);
		comma = ",";
	}
	fputs("]}],\"modules\":[{\"path\":\"/x/prog\",\"build_id\":null,\"base\":\"0x0\"}],", file);
	write_sites(file, sites);
	fputs("],\"events\":[\n]}\n", file);
	OK(!fclose(file));
	return paths[made_n++];
}

static struct diff_side side(unsigned from, unsigned count)
{
	struct diff_side made = { calloc(count + 1, sizeof(*made.runs)), 0, 0, 0 };

	for (; made.count < count; made.count++) {
		if (run_open(&made.runs[made.count], paths[from + made.count], NO_DEVICE))
			STR(err_text(), "");
	}
	return made;
}

/* The first `base_n` documents against the others. */
static void compare(unsigned base_n)
{
	struct diff_side base = side(0, base_n);
	struct diff_side head = side(base_n, made_n - base_n);

	EQ(diff_make(&diff, &base, &head, NO_DEVICE), 0);
	EQ(diff.unlike_n, 0);
	for (unsigned i = 0; i < made_n; i++)
		unlink(paths[i]);
	made_n = 0;
	rmdir(folder);
}

static size_t changed(enum column column, const struct diff_row ***rows)
{
	return diff_changed(&diff, DIMENSION_SITE, "device", column, rows);
}

/* The changes of the rows that count as none. */
static int64_t noise(enum column column)
{
	int64_t sum = 0;

	for (size_t i = diff.first[DIMENSION_SITE]; i < diff.first[DIMENSION_SITE + 1]; i++) {
		if (!strcmp(diff.rows[i].group, "device") && !diff_change(&diff.rows[i], column))
			sum += diff.rows[i].head[column] - diff.rows[i].base[column];
	}
	return sum;
}

TEST(equal_runs)
{
	static const struct made sites[] = { { "a", 10, 1, 10, 1, 10, 5 },
					     { "b", 20, 4, 0, 0, 20, 9 },
					     { .name = NULL } };
	const struct diff_row **rows;

	make(sites, 7);
	make(sites, 7);
	compare(1);
	for (enum column column = 0; column < COLUMNS; column++)
		EQ(changed(column, &rows), 0);
	OK(!diff.moved);
}

TEST(the_same_height_at_another_moment)
{
	static const struct made base[] = { { "a", 30, 5, 0, 0, 30, 5 },
					    { "b", 0, 5, 0, 0, 30, 5 },
					    { .name = NULL } };
	static const struct made head[] = { { "a", 0, 5, 0, 0, 30, 5 },
					    { "b", 30, 5, 0, 0, 30, 5 },
					    { .name = NULL } };
	const struct diff_row **rows;

	make(base, 0);
	make(head, 0);
	compare(1);
	EQ(changed(COLUMN_ALLOCATED, &rows), 0);
	OK(diff.moved);
}

/* The peak moves from where `early` stood to where `late` does, because `kept` lives longer. */
TEST(a_moved_peak_has_one_cause)
{
	static const struct made base[] = { { "early", 30, 5, 0, 0, 30, 100 },
					    { "kept", 0, 5, 0, 0, 16, 100 },
					    { "late", 0, 5, 0, 0, 20, 100 },
					    { .name = NULL } };
	static const struct made head[] = { { "late", 20, 5, 0, 0, 20, 120 },
					    { "kept", 16, 5, 0, 0, 16, 900 },
					    { "early", 0, 5, 0, 0, 30, 90 },
					    { .name = NULL } };
	const struct diff_row **rows;

	make(base, 0);
	make(head, 0);
	compare(1);
	EQ(changed(COLUMN_ALLOCATED, &rows), 3);
	STR(rows[0]->name, "kept (prog)");
	EQ(rows[0]->why, WHY_LONGER);
	EQ(rows[1]->why, WHY_MOMENT);
	EQ(rows[2]->why, WHY_MOMENT);
}

/* So does one that a new site makes: who stands lower there was not freed any sooner. */
TEST(a_new_peak_elsewhere)
{
	static const struct made base[] = { { "as ever", 30, 5, 0, 0, 30, 100 },
					    { "by a clock", 20, 5, 0, 0, 20, 1000 },
					    { "mixed", 10, 10, 0, 0, 1, 100 },
					    { .name = NULL } };
	static const struct made head[] = { { "as ever", 10, 5, 0, 0, 30, 100 },
					    { "by a clock", 5, 5, 0, 0, 20, 10 },
					    { "mixed", 30, 13, 0, 0, 2, 100 },
					    { "new", 90, 5, 0, 0, 90, 100 },
					    { .name = NULL } };
	static const enum diff_why wanted[] = { WHY_NEW, WHY_MORE, WHY_MOMENT, WHY_MOMENT };
	const struct diff_row **rows;

	make(base, 0);
	make(head, 0);
	compare(1);
	EQ(changed(COLUMN_ALLOCATED, &rows), 4);
	for (size_t i = 0; i < 4; i++)
		EQ(rows[i]->why, wanted[i]);
}

/* Where nobody tells lifetimes the side that prevails is the cause. */
TEST(without_lifetimes)
{
	static const struct made base[] = { { "early", 10, 5, 0, 0, 30, TRACE_NONE },
					    { "kept", 0, 5, 0, 0, 16, TRACE_NONE },
					    { "late", 0, 5, 0, 0, 20, TRACE_NONE },
					    { .name = NULL } };
	static const struct made head[] = { { "late", 30, 5, 0, 0, 20, TRACE_NONE },
					    { "kept", 16, 5, 0, 0, 16, TRACE_NONE },
					    { "early", 0, 5, 0, 0, 30, TRACE_NONE },
					    { .name = NULL } };
	const struct diff_row **rows;

	make(base, 0);
	make(head, 0);
	compare(1);
	EQ(changed(COLUMN_ALLOCATED, &rows), 3);
	EQ(rows[0]->why, WHY_LONGER);
	EQ(rows[1]->why, WHY_LONGER);
	EQ(rows[2]->why, WHY_MOMENT);
}

TEST(reasons)
{
	static const struct made base[] = {
		{ "gone", 10, 1, 0, 0, 10, 5 },
		{ "larger", 10, 2, 0, 0, 10, 5 },
		{ "more", 10, 2, 0, 0, 10, 5 },
		{ "leaks", 10, 2, 0, 0, 10, 5 },
		{ "longer", 10, 2, 0, 0, 10, 500 },
		{ "fewer", 30, 4, 0, 0, 10, 5 },
		{ "smaller", 30, 4, 0, 0, 10, 5 },
		{ "again", 10, 2, 0, 0, 10, 5 },
		{ .name = NULL },
	};
	static const struct made head[] = {
		{ "new", 10, 1, 0, 0, 10, 5 },
		{ "larger", 20, 2, 0, 0, 20, 5 },
		{ "more", 20, 4, 0, 0, 10, 5 },
		{ "leaks", 20, 2, 20, 2, 10, 5 },
		{ "longer", 20, 2, 0, 0, 10, 5000 },
		{ "fewer", 20, 2, 0, 0, 10, 5 },
		{ "smaller", 20, 4, 0, 0, 5, 5 },
		{ "again", 0, 4, 0, 0, 10, 5 },
		{ .name = NULL },
	};
	static const struct {
		const char *name;
		enum diff_why why;
	} wanted[] = { { "gone (prog)", WHY_GONE },     { "new (prog)", WHY_NEW },
		       { "larger (prog)", WHY_LARGER }, { "more (prog)", WHY_MORE },
		       { "leaks (prog)", WHY_KEPT },    { "longer (prog)", WHY_LONGER },
		       { "fewer (prog)", WHY_FEWER },   { "smaller (prog)", WHY_SMALLER },
		       { "again (prog)", WHY_SOONER } };
	size_t found = 0;

	make(base, 0);
	make(head, 1); /* or the heights would be the same by chance, and nothing to tell */
	compare(1);
	for (size_t i = diff.first[DIMENSION_SITE]; i < diff.first[DIMENSION_SITE + 1]; i++) {
		for (size_t k = 0; k < sizeof(wanted) / sizeof(wanted[0]); k++) {
			if (strcmp(diff.rows[i].name, wanted[k].name))
				continue;
			EQ(diff.rows[i].why, wanted[k].why);
			found++;
		}
	}
	EQ(found, sizeof(wanted) / sizeof(wanted[0]));
}

/* A site that holds less at the peak may keep more at exit: each table has its own reason. */
TEST(reasons_of_a_column)
{
	static const struct made base[] = { { "again", 20, 10, 1, 1, 1, 5 }, { .name = NULL } };
	static const struct made head[] = { { "again", 10, 12, 2, 2, 1, 5 }, { .name = NULL } };
	const struct diff_row **rows;

	make(base, 0);
	make(head, 0);
	compare(1);
	EQ(changed(COLUMN_ALLOCATED, &rows), 1);
	EQ(diff_why_of(rows[0], COLUMN_ALLOCATED), WHY_SOONER);
	EQ(diff_why_of(rows[0], COLUMN_EXIT), WHY_KEPT);
}

/* Who holds less is no reason for a peak that grew, however much less that is. */
/* As much is live at exit as before, but it is another's. */
TEST(the_sentence_names_who_went_as_gone)
{
	static const struct made before[] = {
		{ "stays", 90, 1, 90, 1, 90, 5 },
		{ "leaves", 64, 1, 64, 1, 64, 5 },
		{ NULL, 0, 0, 0, 0, 0, 0 },
	};
	static const struct made after[] = {
		{ "stays", 90, 1, 90, 1, 90, 5 },
		{ "comes", 64, 1, 64, 1, 64, 5 },
		{ NULL, 0, 0, 0, 0, 0, 0 },
	};

	make(before, 0);
	make(after, 0);
	compare(1);
	STR(diff_sentence(&diff),
	    "The peak is unchanged (154 B allocated on device 0), and so is the total live "
	    "at exit, but other call sites hold it: comes (prog) is new and keeps 64 B; "
	    "leaves (prog) is gone and held 64 B.");
}

TEST(the_sentence_names_who_goes_along)
{
	static const struct made base[] = { { "down", 900, 1, 0, 0, 900, 5 },
					    { "up", 100, 1, 0, 0, 100, 5 },
					    { "with", 100, 1, 0, 0, 100, 5 },
					    { .name = NULL } };
	static const struct made head[] = { { "down", 300, 1, 0, 0, 300, 5 },
					    { "up", 660, 1, 0, 0, 660, 5 },
					    { "with", 150, 1, 0, 0, 150, 5 },
					    { .name = NULL } };
	const struct diff_row **rows;
	enum column column;

	make(base, 0);
	make(head, 0);
	compare(1);
	STR(diff_sentence(&diff),
	    "The peak on device 0 grew by 10 B (0.9%) to 1.08 KiB allocated: up (prog) "
	    "allocates larger blocks and holds 560 B more (91% of all growth).");
	EQ(diff_growers(&diff, &rows, &column), 2);
	STR(rows[0]->name, "up (prog)");
}

/* The middle run speaks; what the others spread over is noise. */
TEST(several_runs)
{
	struct made sites[] = { { "a", 100, 1, 0, 0, 10, 5 },
				{ "b", 50, 1, 0, 0, 10, 5 },
				{ .name = NULL } };
	static const int64_t a[RUNS] = { 100, 103, 101, 110, 108, 109 };
	static const int64_t b[RUNS] = { 50, 50, 52, 51, 50, 50 };
	const struct diff_row **rows;
	int64_t base, head;

	for (size_t i = 0; i < RUNS; i++) {
		sites[0].peak = a[i];
		sites[1].peak = b[i];
		make(sites, 0);
	}
	compare(3);
	EQ(diff.base.middle, 1); /* 150, 153, 153: the first of the middle height */
	EQ(diff.head.middle, 2); /* 161, 158, 159 */
	EQ(changed(COLUMN_ALLOCATED, &rows), 1);
	STR(rows[0]->name, "a (prog)");
	EQ(rows[0]->noise[COLUMN_ALLOCATED], 3);
	EQ(diff_change(rows[0], COLUMN_ALLOCATED), 6);
	EQ(noise(COLUMN_ALLOCATED), 0);
	diff_totals(&diff, "device", COLUMN_ALLOCATED, &base, &head);
	EQ(head - base, 6);
}

static void make_random(uint64_t *state)
{
	static const char *const names[SITES] = { "a", "b", "c", "d", "e", "f", "g", "h" };
	struct made sites[SITES + 1];
	size_t used = 0;

	for (size_t i = 0; i < SITES; i++) {
		if (chance_one_in(state, 4))
			continue;
		sites[used].name = names[i];
		sites[used].peak = (int64_t)chance_below(state, 1000);
		sites[used].count = 2 + (int64_t)chance_below(state, 50);
		sites[used].live = (int64_t)chance_below(state, 100);
		sites[used].live_count = (int64_t)chance_below(state, 2);
		sites[used].size = (int64_t)chance_below(state, 64);
		sites[used++].lifetime = chance_below(state, 100);
	}
	sites[used].name = NULL;
	make(sites, (int64_t)chance_below(state, 500));
}

static void check_sums(enum column column)
{
	const struct diff_row **rows;
	int64_t base, head;
	int64_t sum_of_rows = noise(column);
	size_t count = changed(column, &rows);

	for (size_t i = 0; i < count; i++)
		sum_of_rows += diff_change(rows[i], column);
	diff_totals(&diff, "device", column, &base, &head);
	EQ(sum_of_rows, head - base);
	if (column != COLUMN_ALLOCATED && column != COLUMN_EXIT)
		return;
	/* And the totals are what the summaries say, whatever no site answers for. */
	EQ(base, run_find(diff_base(&diff), DIMENSION_DEVICE, "", "0")->values[column]);
	EQ(head, run_find(diff_head(&diff), DIMENSION_DEVICE, "", "0")->values[column]);
}

/* Whatever the runs hold, every column of sites sums exactly to the difference of the totals. */
TEST(sums_of_random_runs)
{
	for (uint64_t seed = 1; seed <= 200; seed++) {
		uint64_t state = seed;
		unsigned runs = 1 + (unsigned)chance_below(&state, 3);

		for (unsigned i = 0; i < 2 * runs; i++)
			make_random(&state);
		compare(runs);
		for (enum column column = 0; column < COLUMNS; column++)
			check_sums(column);
		diff_clear(&diff);
	}
}
