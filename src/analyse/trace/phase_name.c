/* Groups phases into families by their names. */
#include "analyse/trace/phase_name.h"

#include <string.h>

static bool is_number(char c)
{
	return (c >= '0' && c <= '9') || c == '#';
}

/* The length of the name without the notes that XLA adds. */
static size_t noted(const char *name)
{
	const char *notes = strchr(name, '#');
	size_t length = strlen(name);

	if (!notes || notes == name || !strchr(notes, '='))
		return length;
	if (name[length - 1] != '#' && notes[-1] != ':')
		return length; /* neither notes nor the beginning of notes that were cut off */
	length = (size_t)(notes - name);
	return length > 1 && name[length - 1] == ':' ? length - 1 : length;
}

bool phase_is_noted(const char *name)
{
	return name[noted(name)];
}

size_t phase_stem(const char *name)
{
	size_t length = noted(name);
	size_t number = length;

	while (number && is_number(name[number - 1]))
		number--;
	while (number && number < length && strchr(" _-:", name[number - 1]))
		number--;
	return number ? number : length;
}

/* Returns the next letter of a family's name, 0 at the end. A run of digits becomes one #. */
static char next_letter(const char **at, const char *end)
{
	char letter;

	if (*at == end)
		return '\0';
	letter = *(*at)++;
	if (!is_number(letter))
		return letter;
	while (*at < end && is_number(**at))
		++*at;
	return '#';
}

size_t phase_family(char *to, size_t size, const char *name)
{
	const char *end = name + noted(name);
	size_t used = 0;
	char letter;

	while (used + 1 < size && (letter = next_letter(&name, end)))
		to[used++] = letter;
	to[used] = '\0';
	return used;
}

int phase_family_order(const char *a, const char *b)
{
	const char *ends[] = { a + noted(a), b + noted(b) };

	for (;;) {
		unsigned char x = (unsigned char)next_letter(&a, ends[0]);
		unsigned char y = (unsigned char)next_letter(&b, ends[1]);

		if (x != y || !x)
			return x - y;
	}
}
