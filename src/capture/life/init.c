/*
 * The constructor. It runs in every process that inherits LD_PRELOAD, shells and compilers
 * included: it reads settings, sets the two injection variables, and makes no file, no output and
 * no thread.
 */
#include "capture/life/life.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/guest/start.h"
#include "base/settings/opt.h"
#include "base/text/log.h"
#include "base/text/text.h"
#include "capture/cupti/cupti.h"
#include "capture/recorder/record_parts.h"

EXPORT int InitializeInjection(void);

#pragma weak dlvsym /* base/guest/old_glibc.h */

/* The value that identifies an atexit() handler's library; this library is never unloaded. The
 * compiler's crtbegin.o also defines it, but looks up four names in every process, and so is not
 * linked (LIB_LAYOUT in the Makefile). */
extern __attribute__((weak, visibility("hidden"))) void *__dso_handle;
void *__dso_handle;

START_DATA bool guest_preloaded;

/* With an absolute path in these variables, the driver and NVTX find this library anywhere. */
static START_DATA char injections[][24] = { "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH" };

/* Not in rodata, where a short process would touch a page for these few bytes alone. */
static START_DATA char our_name[] = "libmemtrace.so", libc_name[] = "libc.so.";

START_CODE static bool is_named(const struct link_map *map, const char *start)
{
	return start_after(text_base(map->l_name), start);
}

/* The loader's entry for this library: the second word of the global offset table (psABI). From
 * this entry the loader's list can be followed without looking up a name. */
START_CODE static const struct link_map *own_map(void)
{
	struct link_map *map = NULL;
	Dl_info info;

#if defined(__x86_64__)
	extern __attribute__((visibility("hidden"))) struct link_map *_GLOBAL_OFFSET_TABLE_[];

	map = _GLOBAL_OFFSET_TABLE_[1];
#endif
	/* needed with LD_BIND_NOW, and on processors other than x86-64 */
	if (!map)
		dladdr1(injections, &info, (void **)&map, RTLD_DL_LINKMAP);
	return map;
}

/*
 * This library's entry, if it was preloaded; NULL for a copy loaded later. The loader's list has
 * the program first, then the preloaded libraries, then those that the program needs, libc among
 * them, and last those from dlopen(), such as a copy that the driver or NVTX loads by itself. Of
 * two preloaded copies the first one counts. Libraries from dlmopen() are in another list, which
 * begins without a program.
 */
START_CODE static const struct link_map *preloaded_map(void)
{
	const struct link_map *map = own_map();
	const struct link_map *at = map;

	while (at && at->l_prev) {
		at = at->l_prev;
		if (is_named(at, our_name) || is_named(at, libc_name))
			return NULL;
	}
	return at && at != map && !at->l_name[0] ? map : NULL;
}

enum { INJECTIONS = 2, VARIABLES = 80, VARIABLE_MAX = 192 };

/* Replaces getenv(): the first call in a process would cost a page fault for its page of libc. */
START_CODE static bool is_set(const char *name)
{
	for (char **variable = environ; variable && *variable; variable++) {
		if (text_value(*variable, name))
			return true;
	}
	return false;
}

/* Does the work of setenv() without touching its pages: makes `environ` point to an array in this
 * library (setenv() copies it once the program adds a variable). False if there is no room. */
START_CODE static bool add_injections(const char *path)
{
	static START_DATA char *variables[VARIABLES];
	static START_DATA char texts[INJECTIONS][VARIABLE_MAX];
	size_t count = 0;

	if (start_length(path) + sizeof(injections[0]) >= VARIABLE_MAX)
		return false;
	for (char **variable = environ; variable && *variable; variable++) {
		if (count == VARIABLES - INJECTIONS - 1)
			return false;
		variables[count++] = *variable;
	}
	for (unsigned i = 0; i < INJECTIONS; i++) {
		static START_CONST const char is[] = "=";
		size_t used;

		if (is_set(injections[i]))
			continue;
		used = start_append(texts[i], VARIABLE_MAX, 0, injections[i]);
		used = start_append(texts[i], VARIABLE_MAX, used, is);
		start_append(texts[i], VARIABLE_MAX, used, path);
		variables[count++] = texts[i];
	}
	variables[count] = NULL;
	environ = variables;
	return true;
}

/* Not inlined, because its buffer takes a page of the stack. */
static __attribute__((noinline)) void set_injections(const char *library)
{
	char path[PATH_MAX] = "";
	int saved = errno;

	if (library[0] == '/' || getcwd(path, sizeof(path))) {
		if (library[0] != '/')
			text_append(path, sizeof(path), "/");
		text_append(path, sizeof(path), library);
		for (unsigned i = 0; i < INJECTIONS; i++)
			setenv(injections[i], path, 0);
	}
	errno = saved;
}

START_CODE static bool is_linked(const struct link_map *map)
{
	static START_DATA char cuda[] = "libcuda"; /* matches libcuda.so.1 and libcudart.so.13 */

	for (; map; map = map->l_next) {
		if (is_named(map, cuda))
			return true;
	}
	return false;
}

/* glibc passes main()'s arguments to constructors too. */
__attribute__((constructor)) START_CODE static void begin(int count, char **words)
{
	const struct link_map *map = dlvsym ? preloaded_map() : NULL;

	/* AT_SECURE: a process with another user's rights must not write where the settings say. */
	guest_preloaded = map && !getauxval(AT_SECURE);
	if (guest_preloaded) {
		opt_read();
		log_init(opt_flag(OPT_ID_quiet));
		/* Usually both are set already, by this library in the parent process. */
		if (!is_set(injections[0]) || !is_set(injections[1])) {
			if (map->l_name[0] != '/' || !add_injections(map->l_name))
				set_injections(map->l_name);
		}
		if (life_begun() || is_linked(map))
			life_begin();
		record_init(count > 0 && words[0] ? words[0] : our_name);
		control_init();
	}
}

START_CODE static bool is_idle(void)
{
	return !atomic_load(&record_process.open) && !atomic_load(&record_process.cuda_started);
}

__attribute__((destructor)) START_CODE void life_finish(void)
{
	int saved;

	if (!guest_preloaded || (is_idle() && !opt_flag(OPT_ID_cupti)))
		return;
	saved = errno;
	if (opt_flag(OPT_ID_cupti))
		cupti_finish();
	if (!is_idle())
		record_finish();
	errno = saved;
}

/* The driver calls this in cuInit(): CUDA is really used, so the first-time work is done here. */
int InitializeInjection(void)
{
	if (guest_preloaded && record_on()) {
		atomic_store(&record_process.cuda_started, true);
		record_prepare();
		cupti_start();
	}
	return 1;
}
