/*
 * Describes a comparison in one sentence: the change of the peak, and the sites that explain it.
 *
 * The sentence names only the sites that explain most of the change; the tables list all of them.
 */
#include "render/compare/diff.h"

#include <string.h>

#include "render/emit/term.h"

enum {
	NAMED = 3,          /* maximum number of sites that the sentence names */
	ENOUGH = 80,        /* percent of the change: once explained, no more sites are named */
	WORTH = 10,         /* percent of the change that each further named site must explain */
	NAME_COLUMNS = 140, /* maximum columns of a name */
	WORD_COLUMNS = 72,  /* maximum columns of a name with a word wider than this */
};

/* Of a dimension's rows (one per device or memory kind), returns the one whose allocated peak grew
 * most or, if none grew, fell most; NULL if there are no rows. */
static const struct diff_row *worst_of(const struct diff *diff, enum dimension dimension)
{
	const struct diff_row *worst = NULL;

	foreach (row, DIFF_ROWS(diff, dimension)) {
		int64_t change = diff_change(row, COLUMN_ALLOCATED);
		int64_t most = worst ? diff_change(worst, COLUMN_ALLOCATED) : 0;

		if (!worst || (change > 0 ? change > most : most <= 0 && change < most))
			worst = row;
	}
	return worst;
}

/* Returns the row that the sentence is about: a device, or a memory kind if no device changed. */
static const struct diff_row *subject_of(const struct diff *diff)
{
	const struct diff_row *device = worst_of(diff, DIMENSION_DEVICE);
	const struct diff_row *space = worst_of(diff, DIMENSION_SPACE);

	if (space && strcmp(space->name, "array") != 0 &&
	    (!device ||
	     (!diff_change(device, COLUMN_ALLOCATED) && diff_change(space, COLUMN_ALLOCATED))))
		return space;
	return device;
}

static const char *subject_name(struct diff *diff, const struct diff_row *row)
{
	bool device = row->dimension == DIMENSION_DEVICE;

	return show_kept(&diff->arena, "%s%.60s%s", device ? "on device " : "in ", row->name,
			 device ? "" : " memory");
}

static const char *group_of(const struct diff_row *row)
{
	return !row || row->dimension == DIMENSION_DEVICE ? "device" : row->name;
}

static const char *verb_of(enum diff_why why, enum column column)
{
	static const char *const verbs[WHYS] = {
#define WHY(id, way, word, verb) verb,
#include "analyse/compare/diff_why.def"
	};

	if (column != COLUMN_ALLOCATED && why != WHY_GONE)
		return why == WHY_NEW ? "is new and keeps" : "keeps";
	return verbs[why];
}

/* Returns the sum of the changes of sites that have the same sign as `change`, the change of all
 * sites. The sum is larger than `change` if other sites changed the other way. */
static int64_t moved_along(const struct diff_row *const *rows, size_t count, enum column column,
			   int64_t change)
{
	int64_t along = 0;

	foreach (row, rows, count) {
		int64_t part = diff_change(*row, column);

		along += (part < 0) == (change < 0) ? part : 0;
	}
	return along;
}

/* Cuts a site's name, to fewer columns if it has a long word (a C++ name), which cannot wrap. */
static void sentence_name(const char *name, char *to, size_t size)
{
	unsigned columns = NAME_COLUMNS;

	for (const char *word = name; *word; word += strspn(word, " ")) {
		size_t length = strcspn(word, " ");

		if (length > WORD_COLUMNS)
			columns = WORD_COLUMNS;
		word += length;
	}
	show_cut(to, size, name, columns, SHOW_MIDDLE);
}

/* Names the sites that explain a change: ": A holds 6.00 MiB more; B ... (87% of the change)." */
static const char *culprits(struct diff *diff, const char *group, enum column column,
			    int64_t change)
{
	const struct diff_row **rows;
	const char *words = "";
	int64_t told = 0;
	size_t count = diff_changed(diff, DIMENSION_SITE, group, column, &rows);
	int64_t whole = change ? moved_along(rows, count, column, change) : 0;
	char name[4 * NAME_COLUMNS];
	size_t named = 0;

	for (size_t i = 0; i < count && named < NAMED; i++) {
		int64_t part = diff_change(rows[i], column);
		bool all = rows[i]->why == WHY_NEW || rows[i]->why == WHY_GONE;

		/* A site that holds less does not explain growth, and vice versa. */
		if ((part < 0) != (change < 0) && change)
			continue;
		if (named && whole && part * 100 / whole < WORTH)
			break;
		sentence_name(rows[i]->name, name, sizeof(name));
		words = show_kept(&diff->arena, "%s%s%s %s %s%s", words, named ? "; " : ": ", name,
				  verb_of(rows[i]->why, column),
				  SAY_AMOUNT(part < 0 ? -part : part, true),
				  all        ? ""
				  : part > 0 ? " more"
					     : " less");
		told += part;
		named++;
		if (whole && told * 100 / whole >= ENOUGH)
			break;
	}
	if (!named || !whole || told == whole || told * 100 / whole <= 0)
		return show_kept(&diff->arena, "%s.", words);
	return show_kept(&diff->arena, "%s (%d%% of %s).", words, (int)(told * 100 / whole),
			 whole == change ? "the change"
			 : change > 0    ? "all growth"
					 : "all decrease");
}

static bool any_change(const struct diff *diff, enum column column)
{
	return diff_any(diff, DIMENSION_SITE, NULL, column);
}

/* Returns the sentence if the peak did not change; it names other changes, if there are any. */
static const char *other_change(struct diff *diff, const char *where)
{
	const char *end = "; what some call sites hold or allocate has changed.";
	const char *live = ", and so is the total live at exit, but other call sites hold it";
	int64_t base;
	int64_t head;

	diff_totals(diff, "device", COLUMN_EXIT, &base, &head);
	if (diff_any(diff, DIMENSION_SITE, "device", COLUMN_EXIT)) {
		if (head != base)
			live = show_kept(&diff->arena, ", but %s %s is live at exit",
					 SAY_AMOUNT(head < base ? base - head : head - base, true),
					 head < base ? "less" : "more");
		end = show_kept(&diff->arena, "%s%s", live,
				culprits(diff, "device", COLUMN_EXIT, head - base));
	} else if (!any_change(diff, COLUMN_ALLOCATED) && !any_change(diff, COLUMN_EXIT) &&
		   !any_change(diff, COLUMN_COUNT) && !any_change(diff, COLUMN_TOTAL)) {
		return any_change(diff, COLUMN_RESERVED)
			       ? show_kept(&diff->arena,
					   "No change in allocated memory%s; the memory that pools "
					   "reserve for it differs.",
					   where)
			       : show_kept(&diff->arena, "No change%s.", where);
	}
	return show_kept(&diff->arena, "The peak is unchanged%s%s", where, end);
}

static const char *budget_sentence(struct diff *diff)
{
	size_t broken = diff_broken(diff);

	if (broken)
		return show_kept(&diff->arena, "%zu of %zu limits exceeded.", broken,
				 diff->gates_n);
	return diff->gates_n == 1
		       ? "The limit is met."
		       : show_kept(&diff->arena, "All %zu limits are met.", diff->gates_n);
}

const char *diff_sentence(struct diff *diff)
{
	const struct diff_row *subject;
	const char *name = "";
	const char *most = "";
	int64_t change = 0;

	if (!diff->base.count)
		return budget_sentence(diff);
	subject = subject_of(diff);
	if (subject) {
		name = subject_name(diff, subject);
		most = show_kept(&diff->arena, "%s",
				 SAY_AMOUNT(subject->head[COLUMN_ALLOCATED], true));
		change = diff_change(subject, COLUMN_ALLOCATED);
	}
	if (!change)
		return other_change(
			diff,
			subject ? show_kept(&diff->arena, " (%s allocated %s)", most, name) : "");
	return show_kept(
		&diff->arena, "The peak %s %s by %s (%s) to %s allocated%s", name,
		change > 0 ? "grew" : "shrank", SAY_AMOUNT(change < 0 ? -change : change, true),
		SAY_PERCENT(subject->base[COLUMN_ALLOCATED], subject->head[COLUMN_ALLOCATED]), most,
		culprits(diff, group_of(subject), COLUMN_ALLOCATED, change));
}
