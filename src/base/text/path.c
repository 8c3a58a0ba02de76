/* Where a trace and its spool lie. */
#include "base/text/path.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/guest/table_rows.h"
#include "base/text/pack.h"
#include "base/text/text.h"

/* A text being built, which remembers that something did not fit. */
struct builder {
	char *to;
	size_t size, used;
	bool full;
};

static void add_n(struct builder *builder, const char *text, size_t length)
{
	if (builder->full || length >= builder->size - builder->used) {
		builder->full = true;
		return;
	}
	builder->used += text_copy_n(builder->to + builder->used, builder->size - builder->used,
				     text, length);
}

static void append(struct builder *builder, const char *text)
{
	add_n(builder, text, strlen(text));
}

static struct builder begin(char *to, size_t size)
{
	struct builder builder = { .to = to, .size = size, .full = !size };

	if (size)
		to[0] = '\0';
	return builder;
}

static int finish(const struct builder *builder)
{
	return builder->full ? -ENAMETOOLONG : 0;
}

/* Puts the working directory in front of a relative path. */
static int add_root(struct builder *builder, const char *path)
{
	if (path[0] == '/' || builder->full)
		return 0;
	if (!getcwd(builder->to, builder->size))
		return -errno;
	builder->used = strlen(builder->to);
	if (builder->to[builder->used - 1] != '/')
		append(builder, "/");
	return 0;
}

const char *path_extension(const char *output)
{
	enum pack_kind kind = pack_named(output);
	size_t length = strlen(output);
	size_t suffix = strlen(pack_rows[kind].suffix);

	if (length > 5 + suffix && !memcmp(output + length - suffix - 5, ".json", 5))
		return output + length - suffix - 5;
	return output + length;
}

static const char launchers[][RANK_FACTS][32] = {
#define LAUNCHER(name, rank, size, local) { WHOLE(rank), WHOLE(size), WHOLE(local) },
#include "base/text/launchers.def"
#undef LAUNCHER
};

/* The value goes into names of files: digits, no more of them than a number of a rank has. */
static const char *number(const char *name)
{
	const char *value = name[0] ? getenv(name) : NULL;
	size_t length = value ? strlen(value) : 0;

	return length && length < 20 && strspn(value, "0123456789") == length ? value : NULL;
}

const char *rank_fact(enum rank_fact fact)
{
	const char *rank = NULL;

	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
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

static const char *own_rank(void)
{
	const char *rank = rank_fact(RANK_NUMBER);

	return rank ? rank : "0";
}

static const char *word(char letter, const struct path_words *words)
{
	switch (letter) {
	case 'p':
		return words->pid;
	case 'h':
		return words->host;
	case 'r':
		return words->rank ? words->rank : own_rank();
	case 'e':
		return words->program;
	case '%':
		return "%";
	default:
		return NULL;
	}
}

int path_expand(char *to, size_t size, const char *pattern, const struct path_words *words)
{
	struct builder builder = begin(to, size);
	struct path_words all = *words;
	struct utsname system;
	char pid[24];
	int error = add_root(&builder, pattern);

	if (error)
		return error;
	if (!all.host)
		all.host = uname(&system) ? "localhost" : system.nodename;
	if (!all.pid) {
		text_u64(pid, (uint64_t)getpid());
		all.pid = pid;
	}
	for (const char *p = pattern; *p; p++) {
		const char *meaning = *p == '%' ? word(p[1], &all) : NULL;

		if (meaning) {
			append(&builder, meaning);
			p++;
		} else {
			add_n(&builder, p, 1);
		}
	}
	return finish(&builder);
}

int path_spool(char *to, size_t size, const char *output, const char *spool_dir)
{
	struct builder builder = begin(to, size);

	if (spool_dir && spool_dir[0]) {
		int error = add_root(&builder, spool_dir);

		if (error)
			return error;
		append(&builder, spool_dir);
		append(&builder, "/");
		output = text_base(output);
	}
	add_n(&builder, output, (size_t)(path_extension(output) - output));
	append(&builder, ".spool");
	return finish(&builder);
}

int path_numbered(char *to, size_t size, const char *output, unsigned n)
{
	struct builder builder = begin(to, size);
	const char *extension = path_extension(output);
	char digits[24];

	add_n(&builder, output, (size_t)(extension - output));
	if (n) {
		text_u64(digits, n);
		append(&builder, ".");
		append(&builder, digits);
	}
	append(&builder, extension);
	return finish(&builder);
}
