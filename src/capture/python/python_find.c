/*
 * Finds the CPython interpreter in this process.
 *
 * Nothing of Python is linked, so every symbol is looked up. An interpreter is refused if it lacks
 * a symbol or stores its frames in an unknown way; python_process.refusal states the reason.
 */
#include "base/mem/each.h"
#include "capture/python/python_parts.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"

typedef void *lookup_fn(void *handle, const char *name);

#define KNOWN " than memtrace supports (" PYTHON_VERSIONS ")"

/* Sets python_process.refusal to the sentence "CPython 3.12.3" + a + b + c + the consequence. */
static void refuse_version(const char *a, const char *b, const char *c)
{
	char *refusal = python_process.refusal;
	const size_t size = sizeof(python_process.refusal);

	text_join(refusal, size, "CPython ", python_process.version);
	text_append(refusal, size, a);
	text_append(refusal, size, b);
	text_append(refusal, size, c);
	text_append(refusal, size, ": Python stacks are not recorded; everything else is");
}

static int search_library(struct dl_phdr_info *info, size_t size, void *path)
{
	const char *name = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	(void)size;
	if (!name || strncmp(name, "/libpython", 10) != 0)
		return 0;
	text_copy(path, PATH_MAX, info->dlpi_name);
	return 1;
}

/*
 * Finds where the interpreter's symbols are looked up: RTLD_DEFAULT, or a libpython that an
 * embedding program loaded RTLD_LOCAL. False if there is no interpreter. The interpreter's library
 * stays loaded even if the program closes it, because its functions are called from now on.
 */
static bool find_handle(lookup_fn *lookup, void **handle)
{
	static const char name[] = "PyGILState_GetThisThreadState";
	void *symbol = lookup(RTLD_DEFAULT, name);
	char path[PATH_MAX];
	Dl_info info;

	*handle = RTLD_DEFAULT;
	if (symbol) {
		if (dladdr(symbol, &info) && info.dli_fname)
			dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	} else if (dl_iterate_phdr(search_library, path)) {
		*handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
		if (*handle)
			symbol = lookup(*handle, name);
	}
	/* The program's dlerror() must not report a lookup that failed here. */
	dlerror();
	return symbol != NULL;
}

static void find_eval(const void *eval)
{
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (!eval || !dladdr1(eval, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol ||
	    !symbol->st_size)
		return;
	python_process.eval_low = (uint64_t)(uintptr_t)info.dli_saddr;
	python_process.eval_high = python_process.eval_low + symbol->st_size;
}

/* The name of an interpreter that exports CPython's symbols but is not CPython; otherwise NULL. */
static const char *foreign(const char *version)
{
	static const char others[][16] = { "PyPy", "GraalVM", "+cinder", "+meta" };

	for (size_t i = 0; i < COUNT_OF(others); i++)
		if (strstr(version, others[i]))
			return others[i];
	return NULL;
}

/* True if type objects are laid out as expected: str must be flagged as str, bytes as bytes, code
 * as neither. Builds with other object headers (Py_TRACE_REFS) fail here. */
static bool types_agree(void)
{
	return python_type_flag(&python_process.layout, python_process.text_type) ==
		       PYTHON_IS_TEXT &&
	       python_type_flag(&python_process.layout, python_process.bytes_type) ==
		       PYTHON_IS_BYTES &&
	       python_type_flag(&python_process.layout, python_process.code_type) == 0;
}

/* Reads "3.12.3 (main, ...) [GCC ...]" into python_process.version. Returns the minor version, or
 * -ENOTSUP with the refusal set. */
static int read_version(const char *text)
{
	char *rest;
	unsigned long major = strtoul(text, &rest, 10);
	unsigned long minor = *rest == '.' ? strtoul(rest + 1, NULL, 10) : 0;

	text_copy_n(python_process.version, sizeof(python_process.version), text,
		    strcspn(text, " "));
	if (foreign(text)) {
		refuse_version(" is a variant (", foreign(text),
			       ") that memtrace does not support");
		return -ENOTSUP;
	}
	if (major != 3 || minor < PYTHON_OLDEST) {
		refuse_version(" is ", major > 3 ? "newer" : "older", KNOWN);
		return -ENOTSUP;
	}
	return (int)minor;
}

static bool find_needs(lookup_fn *lookup, void *handle)
{
#define FIELD(field) offsetof(struct python_interpreter, field)
	static const struct {
		size_t place;
		char names[2][32];
	} needs[] = {
		{ FIELD(this_thread), { "PyGILState_GetThisThreadState" } },
		{ FIELD(finalizing), { "Py_IsFinalizing", "_Py_IsFinalizing" } },
		{ FIELD(initialized), { "Py_IsInitialized" } },
		{ FIELD(add_call), { "Py_AddPendingCall" } },
		{ FIELD(at_exit), { "Py_AtExit" } },
		{ FIELD(current), { "PyInterpreterState_Get", "_PyInterpreterState_Get" } },
		{ FIELD(main), { "PyInterpreterState_Main" } },
		{ FIELD(import_module), { "PyImport_ImportModuleLevel" } },
		{ FIELD(new_function), { "PyCFunction_NewEx" } },
		{ FIELD(call_method), { "PyObject_CallMethod" } },
		{ FIELD(build_value), { "Py_BuildValue" } },
		{ FIELD(drop), { "Py_DecRef" } },
		{ FIELD(clear_error), { "PyErr_Clear" } },
		{ FIELD(runtime), { "_PyRuntime" } },
		{ FIELD(code_type), { "PyCode_Type" } },
		{ FIELD(text_type), { "PyUnicode_Type" } },
		{ FIELD(bytes_type), { "PyBytes_Type" } },
	};
#undef FIELD
	bool all = true;

	for (size_t i = 0; i < COUNT_OF(needs); i++) {
		void *found = lookup(handle, needs[i].names[0]);

		if (!found && needs[i].names[1][0])
			found = lookup(handle, needs[i].names[1]);
		memcpy((char *)&python_process + needs[i].place, &found, sizeof(found));
		all = all && found;
	}
	return all;
}

int python_find(lookup_fn *lookup)
{
	const char *(*get_version)(void);
	const unsigned long *version;
	const char *text;
	void *handle;
	bool whole;
	int minor;

	if (!find_handle(lookup, &handle))
		return -ENOENT;
	whole = find_needs(lookup, handle);
	get_version = (const char *(*)(void))lookup(handle, "Py_GetVersion");
	version = lookup(handle, "Py_Version");
	find_eval(lookup(handle, "_PyEval_EvalFrameDefault"));
	dlerror();

	text = get_version ? get_version() : "3";
	minor = read_version(text);
	if (minor < 0)
		return minor;
	if (!whole) {
		refuse_version(" does not export all symbols needed to read its frames", "", "");
		return -ENOTSUP;
	}
	if ((unsigned)minor > PYTHON_NEWEST)
		refuse_version(" is newer", KNOWN, "");
	else
		refuse_version(" does not store its frames where memtrace expects them", "", "");
	if (!python_layout_find((unsigned)minor, version ? *version : 0))
		return -ENOTSUP;
	if (minor == 8) /* offset of _PyRuntimeState.ceval.pending.finishing (pycore_pystate.h) */
		python_process.finishing =
			(const int *)((const char *)python_process.runtime + 600);
	return types_agree() ? 0 : -ENOTSUP;
}
