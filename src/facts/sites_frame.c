/* Prepares frames for the names of sites: finds the kind of each frame, and makes texts of it that
 * are the same in every run. */
#include <errno.h>
#include <string.h>

#include "base/mem/arena.h"
#include "base/mem/each.h"
#include "base/text/text.h"
#include "facts/sites.h"

enum { PART = 256 }; /* maximum bytes of the name of a function or file, including the NUL */

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static size_t digits(const char *text)
{
	return strspn(text, "0123456789");
}

/* --- names, shortened to the parts that identify them --- */

/* Returns the position after the bracket that closes the bracket at p, or the end of the text. */
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

/* Removes the result type, which a demangled name of a template function begins with. */
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

/* Removes the suffixes by which GCC and LLVM name clones of a function. */
static void cut_clones(char *name)
{
	static const char marks[][16] = { ".isra.", ".constprop.", ".part.",  ".cold", ".lto_priv.",
					  ".llvm.", ".localalias", ".clone.", ".warm" };

	for (size_t i = 0; i < COUNT_OF(marks); i++) {
		char *at = strstr(name, marks[i]);

		if (at && at != name)
			*at = '\0';
	}
}

static void take_out(char *p, size_t length)
{
	memmove(p, p + length, strlen(p + length) + 1);
}

/* Removes numbers that may differ between builds: in "{lambda#2}", "{unnamed type#1}", "$_3". */
static void drop_numbers(char *name)
{
	for (char *p = name; *p; p++) {
		if (*p == '#' && digits(p + 1))
			take_out(p, 1 + digits(p + 1));
		else if (p[0] == '$' && p[1] == '_' && digits(p + 2))
			take_out(p + 2, digits(p + 2));
	}
}

/* Removes the line or number from names of functions that torch.compile generates. */
static void drop_generated(char *name)
{
	char *at = strstr(name, "torch_dynamo_resume_in_");
	char *line = at ? strstr(at, "_at_") : NULL;

	for (char *next = line; next; next = strstr(next + 1, "_at_"))
		line = next;
	if (line && digits(line + 4))
		*line = '\0';
	at = strstr(name, "__compiled_fn_");
	if (at)
		at[sizeof("__compiled_fn") - 1] = '\0';
	if (begins(name, "triton_")) {
		size_t length = strlen(name);

		while (length && digits(name + length - 1))
			length--;
		if (name[length] && length && name[length - 1] == '_')
			name[length - 1] = '\0';
	}
}

/* Shortens "torch::autograd::generated::MmBackward0::apply" to "MmBackward0". */
static void shorten_backward(char *name)
{
	static const char prefix[] = "torch::autograd::generated::";
	char *apply = strstr(name, "::apply");

	if (!begins(name, prefix) || !apply || apply[7] || !strstr(name, "Backward"))
		return;
	*apply = '\0';
	take_out(name, sizeof(prefix) - 1);
}

static const char *stable_function(bool python, const char *function, struct arena *arena)
{
	char name[PART];

	if (python)
		text_copy(name, sizeof(name), function);
	else
		names_short(function, name, sizeof(name));
	if (python) {
		drop_generated(name);
	} else {
		cut_clones(name);
		drop_numbers(name);
		shorten_backward(name);
	}
	return arena_text(arena, name, strlen(name));
}

static bool is_helper(bool python, const char *function)
{
	const char *dot = strrchr(function, '.');
	const char *last = dot ? dot + 1 : function;

#define NATIVE(name)                           \
	if (!python && begins(function, name)) \
		return true;
#define PYTHON(name)                       \
	if (python && !strcmp(last, name)) \
		return true;
#include "facts/frame_kinds.def"
#undef NATIVE
#undef PYTHON
	return false;
}

bool site_linked_in(const char *function)
{
#define LINKED(name)                \
	if (begins(function, name)) \
		return true;
#include "facts/frame_kinds.def"
#undef LINKED
	/* Functions of the CUDA runtime's API, if the runtime is linked statically: their names
	 * begin with "cuda" and a capital, and are no C++ names (with a scope or arguments). */
	return begins(function, "cuda") && function[4] >= 'A' && function[4] <= 'Z' &&
	       !strpbrk(function, "(:");
}

static const char *in_package(const char *path)
{
	static const char folders[][24] = { "/site-packages/", "/dist-packages/" };

	for (size_t i = 0; i < 2; i++) {
		const char *at = strstr(path, folders[i]);

		if (at)
			return at + strlen(folders[i]);
	}
	return NULL;
}

static bool in_standard_library(const char *path)
{
	return strstr(path, "/lib/python") || strstr(path, "/lib64/python");
}

static bool is_framework_package(const char *path)
{
	size_t length = strcspn(path, "/.");

#define PACKAGE(name)                                               \
	if (length == strlen(name) && !strncmp(path, name, length)) \
		return true;
#include "facts/frame_kinds.def"
#undef PACKAGE
	return false;
}

/* Source files that a tool generated: a text that is in their paths, and their name in sites. */
struct generated {
	char has[24], name[16];
};

static const struct generated *generated(const char *path)
{
	static const struct generated rows[] = {
		{ "/torchinductor_", "torchinductor" },
		{ "<eval_with_key>", "torch.fx" },
		{ "/ipykernel_", "<ipython>" },
		{ "<ipython-input-", "<ipython>" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		if (strstr(path, rows[i].has))
			return &rows[i];
	}
	return NULL;
}

/* Sets `installed`, and the kind of an installed file whose kind is still SITE_OWN. */
static void place_file(struct site_frame *frame, const char *path)
{
	const char *package = in_package(path);

	frame->installed = package || in_standard_library(path);
	if (frame->kind != SITE_OWN || !frame->installed)
		return;
	if (!package)
		frame->kind = SITE_PLUMBING;
	else if (is_framework_package(package))
		frame->kind = SITE_FRAMEWORK;
}

static void read_source(struct site_frame *frame, const char *path)
{
	const struct generated *row = generated(path);

	if (row) {
		frame->where = row->name;
		frame->kind = row->name[0] == '<' ? SITE_OWN : SITE_FRAMEWORK;
		frame->installed = true;
	} else if (begins(path, "<frozen ")) {
		frame->where = "frozen";
		frame->kind = SITE_PLUMBING;
		frame->installed = true;
	} else {
		frame->where = names_path(path);
		/* Frames of this script lie between an allocator and memtrace's C API. */
		if (!strcmp(text_base(path), "memtrace_pools.py"))
			frame->kind = SITE_PLUMBING;
		place_file(frame, path);
		frame->installed |= path[0] == '<';
	}
}

/* Shortens "libx-0a1b2c3d.so.1.2.3" (a name by auditwheel) and "libx.so.1.2.3" to "libx.so.1", and
 * removes Python's version from the name of an extension module. */
static void stable_library(const char *path, char *name)
{
	char *at;

	text_copy(name, PART, text_base(path));
	at = strstr(name, ".cpython-");
	if (at)
		text_copy(at, (size_t)(name + PART - at), ".so");
	at = strstr(name, ".so.");
	if (at && digits(at + 4) && at[4 + digits(at + 4)] == '.')
		at[4 + digits(at + 4)] = '\0';
	at = strstr(name, ".so");
	if (at && at - name > 9 && at[-9] == '-' && strspn(at - 8, "0123456789abcdef") >= 8)
		take_out(at - 9, 9);
}

enum site_kind site_library(const char *base)
{
#define LIBRARY(name, kind)     \
	if (begins(base, name)) \
		return SITE_##kind;
#include "facts/frame_kinds.def"
#undef LIBRARY
	return SITE_OWN;
}

static int read_library(struct site_frame *frame, const char *path, struct arena *arena)
{
	char name[PART];

	stable_library(path, name);
	frame->where = arena_text(arena, name, strlen(name));
	frame->kind = (uint8_t)site_library(text_base(path));
	place_file(frame, path);
	return frame->where ? 0 : -ENOMEM;
}

int site_frame_read(struct site_frame *frame, bool python, const char *function, const char *path,
		    struct arena *arena)
{
	*frame = (struct site_frame){ .python = python, .kind = SITE_OWN };
	if (path && path[0] && python)
		read_source(frame, path);
	else if (path && path[0] && read_library(frame, path, arena))
		return -ENOMEM;
	if (!function || !function[0]) {
		if (!frame->where)
			frame->kind = SITE_PLUMBING;
		return 0;
	}
	frame->function = stable_function(python, function, arena);
	if (!frame->function)
		return -ENOMEM;
	if (!python && site_linked_in(function))
		frame->kind = SITE_PLUMBING;
	frame->helper = frame->kind == SITE_FRAMEWORK && is_helper(python, frame->function);
	return 0;
}

const char *site_path(bool python, const char *path, const char *cwd)
{
	const char *package = in_package(path);
	size_t length = cwd ? strlen(cwd) : 0;

	if (python && generated(path))
		return generated(path)->has;
	if (package)
		return package - sizeof("/site-packages/") + 1;
	if (in_standard_library(path))
		return strstr(path, "/lib/python") ? strstr(path, "/lib/python")
						   : strstr(path, "/lib64/python");
	if (path[0] != '/')
		return path;
	if (python && length > 1 && !strncmp(path, cwd, length) && path[length] == '/')
		return path + length + 1;
	return python ? names_path(path) : text_base(path);
}
