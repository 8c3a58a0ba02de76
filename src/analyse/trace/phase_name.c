#include "analyse/trace/phase_name.h"

#include <string.h>

static bool is_number(char c)
{
	return (c >= '0' && c <= '9') || c == '#';
}

/* Returns the length of the name without the notes that XLA adds. */
static size_t noted(const char *name)
{
	const char *notes = strchr(name, '#');
	size_t length = strlen(name);

	if (!notes || notes == name || strchr(" =", notes[-1]) || !strchr(notes, '='))
		return length;
	if (name[length - 1] != '#' && notes[-1] != ':')
		return length; /* not `name:#notes#`, whole or cut off: '#' is part of the name */
	length = (size_t)(notes - name);
	return length > 1 && name[length - 1] == ':' ? length - 1 : length;
}

bool phase_is_noted(const char *name)
{
	return name[noted(name)];
}

/* --- the characters of a family's name --- */

struct letters {
	const char *at;
	const char *const begin, *const end;
	bool counted; /* true if the last run of digits counts repetitions */
};

static struct letters letters_of(const char *name)
{
	return (struct letters){ .at = name, .begin = name, .end = name + noted(name) };
}

static bool is_word(char c)
{
	return (unsigned char)c >= 0x80 || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/*
 * True if the digits from `run` up to `after` count repetitions: they are the whole name, or end it
 * right after a word ("step12"), or follow one of PHASE_MARKS after a word or after another such
 * number ("epoch 3/10", "layer[3]"). Operands ("x + 1") and decimals ("0.125") count nothing.
 */
static bool is_repetition(const struct letters *from, const char *run, const char *after)
{
	bool ended = after == from->end;
	const char *mark = run;

	if (run == from->begin || is_word(run[-1]))
		return ended || (run > from->begin && *run == '#');
	mark -= run - from->begin > 2 && run[-1] == ' ' && run[-2] == ':' ? 2 : 1;
	if (!strchr(PHASE_MARKS, *mark) || mark == from->begin ||
	    !(is_word(mark[-1]) || (is_number(mark[-1]) && from->counted)))
		return false;
	if (*mark == '[' || *mark == '(')
		return !ended && *after == (*mark == '[' ? ']' : ')');
	return *mark == '.' || ended || *after != '.' || !is_number(after[1]);
}

/* Returns the next letter of the family of a name, 0 at the end; # for a number of a repetition. */
static char next_letter(struct letters *from)
{
	const char *run = from->at;
	const char *after = run;

	if (run == from->end)
		return '\0';
	while (after < from->end && is_number(*after))
		after++;
	from->at++;
	if (after == run || (run > from->begin && is_number(run[-1])))
		return *run;
	from->counted = is_repetition(from, run, after);
	if (!from->counted)
		return *run;
	from->at = after;
	return '#';
}

size_t phase_stem(const char *name)
{
	struct letters from = letters_of(name);
	const char *last = name;

	while (from.at < from.end) {
		last = from.at;
		next_letter(&from);
	}
	if (last == name || !is_number(*last) || !from.counted)
		return (size_t)(from.end - name);
	while (last > name && strchr(PHASE_MARKS, last[-1]))
		last--;
	return (size_t)(last - name);
}

size_t phase_family(char *to, size_t size, const char *name)
{
	struct letters from = letters_of(name);
	size_t used = 0;
	char letter;

	while (used + 1 < size && (letter = next_letter(&from)))
		to[used++] = letter;
	to[used] = '\0';
	return used;
}

int phase_family_order(const char *a, const char *b)
{
	char families[2][PHASE_FAMILY];

	phase_family(families[0], PHASE_FAMILY, a);
	phase_family(families[1], PHASE_FAMILY, b);
	return strcmp(families[0], families[1]);
}
