/* Names of functions and files, shortened to what tells them apart. */
#include "facts/sites.h"

#include <string.h>

#include "base/text/text.h"

/* Where what opens at p closes: behind it, or the end of the text. */
static const char *behind_group(const char *p, char open, char close)
{
	unsigned depth = 0;

	for (; *p; p++) {
		if (*p == open)
			depth++;
		else if (*p == close && p[-1] != '-' && --depth == 0)
			return p + 1;
	}
	return p;
}

/* Drops the result type, which stands in front of a template's name. */
static void drop_result(char *name)
{
	char *start = name;
	unsigned depth = 0;

	if (name[0] == '<' || name[0] == '[' || strstr(name, "operator "))
		return;
	for (char *p = name; *p; p++) {
		if (*p == '(' || *p == '{')
			depth++;
		else if ((*p == ')' || *p == '}') && depth)
			depth--;
		else if (*p == ' ' && !depth && p[1] && p[1] != '<')
			start = p + 1;
	}
	memmove(name, start, strlen(start) + 1);
}

void names_short(const char *from, char *to, size_t size)
{
	static const char anonymous[] = "(anonymous namespace)";
	size_t used = 0;

	while (*from && used + 8 < size) {
		bool behind_operator = used >= 8 && !strncmp(to + used - 8, "operator", 8);

		if (!strncmp(from, anonymous, sizeof(anonymous) - 1)) {
			used += text_copy(to + used, size - used, anonymous);
			from += sizeof(anonymous) - 1;
		} else if (*from == '(' && behind_operator && from[1] == ')') {
			used += text_copy(to + used, size - used, "()");
			from += 2;
		} else if (*from == '(') {
			from = behind_group(from, '(', ')');
		} else if (behind_operator && strchr("<>-=", *from)) {
			while (strchr("<>-=", *from) && *from && used + 8 < size)
				to[used++] = *from++;
		} else if (*from == '<' && used) {
			used += text_copy(to + used, size - used, "<...>");
			from = behind_group(from, '<', '>');
		} else if (!strncmp(from, " const", 6) && (!from[6] || strchr(": [", from[6]))) {
			from += 6;
		} else if (!strncmp(from, " [clone", 7)) {
			break;
		} else {
			to[used++] = *from++;
		}
	}
	to[used] = '\0';
	drop_result(to);
}

const char *names_path(const char *path)
{
	const char *base = text_base(path);

	if (strcmp(base, "__init__.py") != 0 && strcmp(base, "__main__.py") != 0)
		return base;
	for (base -= base > path; base > path && base[-1] != '/';)
		base--;
	return base;
}
