/*
 * Finds source lines of native frames and the functions inlined there, in the debug information of
 * their modules (elfutils' libdw).
 *
 * A module's file may be replaced or absent on the machine that reads the trace, so debug
 * information is used only if it has the module's build-id. It is sought at the module's path,
 * below /usr/lib/debug/.build-id and at the servers that DEBUGINFOD_URLS names, if any.
 */
#include "analyse/trace/trace.h"

#ifdef HAVE_LIBDW
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/grow.h"
#include "analyse/trace/trace_parts.h"
#include "base/text/fd.h"
#include "facts/spool_model.h"

enum { LONGEST_BUILD_ID = 64 }; /* bytes */

struct source {
	Dwfl *dwfl;
	Dwfl_Module *module; /* NULL if there is no debug information */
	bool tried;
};

/* Frames of the functions inlined at a frame: trace->frames[first] to [first + count - 1]. */
struct inlined {
	uint32_t first, count;
};

struct finder {
	struct trace *trace;
	struct source *sources;  /* indexed by module */
	struct inlined *inlined; /* by frame, for frames that trace_find_lines() did not add */
	size_t room;
};

struct line {
	const char *file;
	int line;
};

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static bool has_build_id(Dwfl_Module *module, const char *build_id)
{
	const unsigned char *bytes = NULL;
	GElf_Addr at;
	int size = dwfl_module_build_id(module, &bytes, &at);

	return size > 0 && symbols_is_build_id((const char *)bytes, (size_t)size, build_id);
}

static Dwfl_Module *report_file(Dwfl *dwfl, const char *path)
{
	struct stat status;
	int fd = fd_open_regular(path, &status);
	Dwfl_Module *module = fd < 0 ? NULL : dwfl_report_elf(dwfl, "", path, fd, 0, true);

	if (fd >= 0 && !module)
		fd_close(fd);
	return module;
}

static Dwfl_Module *report_build_id(Dwfl *dwfl, const char *build_id)
{
	unsigned char bytes[LONGEST_BUILD_ID];
	size_t size = strlen(build_id) / 2;
	Dwfl_Module *module = dwfl_report_module(dwfl, "", 0, UINT32_MAX);

	for (size_t i = 0; i < size; i++)
		sscanf(build_id + 2 * i, "%2hhx", &bytes[i]);
	if (module)
		dwfl_module_report_build_id(module, bytes, size, 0);
	return module;
}

/* Opens debug information in the file at `path`; if `path` is NULL, finds it by build-id. */
static bool try_file(struct source *source, const char *path, const char *build_id)
{
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *module;
	Dwarf_Addr bias;

	if (!dwfl)
		return false;
	dwfl_report_begin(dwfl);
	module = path ? report_file(dwfl, path) : report_build_id(dwfl, build_id);
	dwfl_report_end(dwfl, NULL, NULL);
	if (!module || !has_build_id(module, build_id) || !dwfl_module_getdwarf(module, &bias)) {
		dwfl_end(dwfl);
		return false;
	}
	source->dwfl = dwfl;
	source->module = module;
	return true;
}

static Dwfl_Module *module_of(struct finder *finder, uint32_t number)
{
	struct source *source = &finder->sources[number];
	const struct trace_module *module = &finder->trace->modules[number];
	const char *build_id = module->build_id;
	char separate[2 * LONGEST_BUILD_ID + 64];

	if (source->tried || !build_id || strlen(build_id) < 4 ||
	    strlen(build_id) > (size_t)2 * LONGEST_BUILD_ID)
		return source->module;
	source->tried = true;
	snprintf(separate, sizeof(separate), "/usr/lib/debug/.build-id/%.2s/%s.debug", build_id,
		 build_id + 2);
	if (!(module->path && try_file(source, module->path, build_id)) &&
	    !try_file(source, separate, build_id) && getenv("DEBUGINFOD_URLS"))
		try_file(source, NULL, build_id);
	return source->module;
}

static const char *keep_text(struct finder *finder, const char *text)
{
	const char *kept = arena_text(&finder->trace->arena, text, strlen(text));

	NEED(kept);
	return kept;
}

static void name_frame(struct finder *finder, struct trace_frame *frame, Dwarf_Die *scope)
{
	Dwarf_Attribute attribute;
	const char *name =
		dwarf_formstring(dwarf_attr_integrate(scope, DW_AT_linkage_name, &attribute));

	name = name ? name : dwarf_diename(scope);
	frame->symbol = name ? keep_text(finder, name) : NULL;
	frame->function =
		name ? symbols_demangle(frame->symbol, SYMBOLS_LOAD, &finder->trace->arena) : NULL;
}

/* Adds a frame like the one at `number`, but for the function `scope`, which was inlined there. */
static void add_inlined(struct finder *finder, uint32_t number, Dwarf_Die *scope,
			const struct line *line)
{
	struct trace_frame *frame = trace_add_frame(finder->trace, &finder->room, number);
	struct inlined *inlined = &finder->inlined[number];

	name_frame(finder, frame, scope);
	frame->file = line->file;
	frame->line = (uint32_t)line->line;
	frame->inlined = true;
	if (!inlined->count++)
		inlined->first = (uint32_t)finder->trace->frames_n - 1;
}

/* Returns the source line of the call that the inlined function replaced. */
static struct line call_of(struct finder *finder, Dwarf_Die *scope, Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file = 0;
	Dwarf_Word line = 0;
	Dwarf_Files *files;
	size_t count;
	const char *name = NULL;

	dwarf_formudata(dwarf_attr(scope, DW_AT_call_line, &attribute), &line);
	if (!dwarf_formudata(dwarf_attr(scope, DW_AT_call_file, &attribute), &file) &&
	    !dwarf_getsrcfiles(unit, &files, &count))
		name = dwarf_filesrc(files, file, NULL, NULL);
	return (struct line){ name ? keep_text(finder, name) : NULL, (int)line };
}

static struct line find_inlined(struct finder *finder, uint32_t number, Dwfl_Module *module,
				struct line line)
{
	Dwarf_Addr pc = finder->trace->frames[number].offset - 1;
	Dwarf_Addr bias = 0;
	Dwarf_Die *unit = dwfl_module_addrdie(module, pc, &bias);
	Dwarf_Die *innermost = NULL;
	Dwarf_Die *scopes = NULL;
	int count = unit ? dwarf_getscopes(unit, pc - bias, &innermost) : 0;

	count = count > 0 ? dwarf_getscopes_die(innermost, &scopes) : 0;
	for (int i = 0; i < count; i++) {
		if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram &&
		    !finder->trace->frames[number].function)
			name_frame(finder, &finder->trace->frames[number], &scopes[i]);
		if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
			continue;
		add_inlined(finder, number, &scopes[i], &line);
		line = call_of(finder, &scopes[i], unit);
	}
	free(scopes);
	free(innermost);
	return line;
}

static void find_line(struct finder *finder, uint32_t number)
{
	const struct trace_frame *frame = &finder->trace->frames[number];
	Dwfl_Module *module;
	Dwfl_Line *found;
	struct line line = { NULL, 0 };
	const char *file;

	if (frame->language != TRACE_NATIVE || frame->file || frame->module == UINT32_MAX)
		return;
	module = module_of(finder, frame->module);
	/* The offset is a return address: the call is the instruction before it. */
	found = module ? dwfl_module_getsrc(module, frame->offset - 1) : NULL;
	file = found ? dwfl_lineinfo(found, NULL, &line.line, NULL, NULL, NULL) : NULL;
	if (!file || line.line <= 0)
		return;
	line.file = keep_text(finder, file);
	line = find_inlined(finder, number, module, line);
	finder->trace->frames[number].file = line.file;
	finder->trace->frames[number].line = (uint32_t)line.line;
}

/* Inserts the frames of inlined functions before the frames into which they were inlined. */
static void extend_stack(struct finder *finder, struct trace_stack *stack, size_t frames_n)
{
	struct trace *trace = finder->trace;
	size_t more = 0;
	size_t to = 0;
	uint32_t *frames;

	for (size_t i = 0; i < stack->frames_n; i++)
		more += stack->frames[i] < frames_n ? finder->inlined[stack->frames[i]].count : 0;
	if (!more)
		return;
	frames = need(&trace->arena, (stack->frames_n + more) * sizeof(*frames));
	for (size_t i = 0; i < stack->frames_n; i++) {
		const struct inlined *inlined = &finder->inlined[stack->frames[i]];

		for (uint32_t j = 0; stack->frames[i] < frames_n && j < inlined->count; j++)
			frames[to++] = inlined->first + j;
		frames[to++] = stack->frames[i];
	}
	/* entries[] has positions of Python frames, which follow the native frames. */
	for (size_t i = 0; i < stack->entries_n; i++)
		stack->entries[i] += (uint32_t)more;
	stack->frames = frames;
	stack->frames_n = to;
}

void trace_find_lines(struct trace *trace)
{
	size_t frames_n = trace->frames_n;
	struct finder finder = { .trace = trace, .room = frames_n };

	finder.sources = need(&trace->arena, trace->modules_n * sizeof(*finder.sources) + 1);
	finder.inlined = need(&trace->arena, frames_n * sizeof(*finder.inlined) + 1);
	for (uint32_t i = 0; i < frames_n; i++)
		find_line(&finder, i);
	for (size_t i = 0; i < trace->stacks_n; i++)
		extend_stack(&finder, &trace->stacks[i], frames_n);
	for (size_t i = 0; i < trace->modules_n; i++) {
		if (finder.sources[i].dwfl)
			dwfl_end(finder.sources[i].dwfl);
	}
}
#else
void trace_find_lines(struct trace *trace)
{
	(void)trace;
}
#endif
