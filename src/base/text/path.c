/* Computes the paths of a trace and of its spool, and finds the rank of this process. */
#include "base/text/path.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/guest/table_rows.h"
#include "base/mem/each.h"
#include "base/text/pack.h"
#include "base/text/text.h"

static int add_n(char *to, size_t size, const char *text, size_t length)
{
	size_t used = strlen(to);

	if (length >= size - used)
		return -ENAMETOOLONG;
	text_copy_n(to + used, size - used, text, length);
	return 0;
}

static int add(char *to, size_t size, const char *text)
{
	return add_n(to, size, text, strlen(text));
}

/* Sets `to` to the working directory and a slash if `path` is relative, else to an empty text. */
static int begin(char *to, size_t size, const char *path)
{
	to[0] = '\0';
	if (path[0] == '/')
		return 0;
	if (!getcwd(to, size))
		return -errno;
	return to[strlen(to) - 1] == '/' ? 0 : add(to, size, "/");
}

const char *path_extension(const char *output)
{
	size_t length = strlen(output);
	size_t plain = length - strlen(pack_rows[pack_named(output)].suffix);

	if (plain > 5 && !memcmp(output + plain - 5, ".json", 5))
		return output + plain - 5;
	return output + length;
}

static const char launchers[][RANK_FACTS][32] = {
#define LAUNCHER(name, rank, size, local) { WHOLE(rank), WHOLE(size), WHOLE(local) },
#include "base/text/launchers.def"
#undef LAUNCHER
};

/* Returns a variable's value if it is 1 to 19 digits, which are safe in file names, else NULL. */
static const char *number(const char *name)
{
	const char *value = name[0] ? getenv(name) : NULL;
	size_t length = value ? strlen(value) : 0;

	return length && length < 20 && strspn(value, "0123456789") == length ? value : NULL;
}

const char *rank_fact(enum rank_fact fact)
{
	const char *rank = NULL;

	for (size_t i = 0; i < COUNT_OF(launchers); i++) {
		const char *own = number(launchers[i][RANK_NUMBER]);
		const char *value = number(launchers[i][fact]);

		if (!own || (rank && strcmp(own, rank) != 0))
			continue;
		if (value)
			return value;
		rank = own;
	}
	return NULL;
}

int path_expand(char *to, size_t size, const char *pattern, const struct path_words *words)
{
	static const char letters[] = "phre%";
	const char *rank = words->rank ? words->rank : rank_fact(RANK_NUMBER);
	const char *means[] = { words->pid, words->host, rank ? rank : "0", words->program, "%" };
	struct utsname system;
	char pid[24];
	int error = begin(to, size, pattern);

	text_u64(pid, (uint64_t)getpid());
	if (!means[0])
		means[0] = pid;
	if (!means[1])
		means[1] = uname(&system) ? "localhost" : system.nodename;
	for (const char *p = pattern; *p && !error; p++) {
		const char *letter = *p == '%' && p[1] ? strchr(letters, p[1]) : NULL;
		const char *meaning = letter ? means[letter - letters] : NULL;

		error = meaning ? add(to, size, meaning) : add_n(to, size, p, 1);
		p += meaning != NULL;
	}
	return error;
}

int path_spool(char *to, size_t size, const char *output, const char *spool_dir)
{
	bool apart = spool_dir && spool_dir[0];
	int error = begin(to, size, apart ? spool_dir : "/");

	if (apart) {
		error = error ?: add(to, size, spool_dir) ?: add(to, size, "/");
		output = text_base(output);
	}
	error = error ?: add_n(to, size, output, (size_t)(path_extension(output) - output));
	return error ?: add(to, size, ".spool");
}

int path_numbered(char *to, size_t size, const char *output, unsigned n)
{
	const char *extension = path_extension(output);
	char number[24] = "";

	if (n) {
		number[0] = '.';
		text_u64(number + 1, n);
	}
	to[0] = '\0';
	return add_n(to, size, output, (size_t)(extension - output)) ?: add(to, size, number)
		       ?: add(to, size, extension);
}
