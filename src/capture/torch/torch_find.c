/* Finds PyTorch's real functions and its version in the loaded libraries. */
#include "capture/torch/torch.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "base/guest/hot.h"
#include "base/guest/table_rows.h"
#include "base/text/fd.h"
#include "base/text/text.h"
#include "capture/loader/loader.h"

static const char names[TORCH_FUNCTIONS][64] = {
#define REPORT(form, name) WHOLE(#name),
#define ASKED(name) WHOLE(#name),
#include "capture/torch/torch.def"
};

HOT_DATA _Atomic(void *) torch_reals[TORCH_FUNCTIONS];

static atomic_bool asked_caller[TORCH_FUNCTIONS];
static atomic_bool version_read;
static _Atomic(const char *) version; /* NULL until the text is complete */

/* Finds libc10.so by its file name: it is loaded RTLD_LOCAL. Debian's file is libc10.so.1.13. */
static int note_c10(struct dl_phdr_info *info, size_t size, void *path)
{
	(void)size;
	if (strncmp(text_base(info->dlpi_name), "libc10.so", 9))
		return 0;
	*(const char **)path = info->dlpi_name; /* stays valid: PyTorch is never unloaded */
	return 1;
}

/* Finds the functions in libc10.so; if that is not loaded, in the library of `caller` (may be NULL)
 * and the libraries that it needs. */
static void find_all(void *caller)
{
	const char *path = NULL;
	void *handle = NULL;
	Dl_info info;

	if (!dl_iterate_phdr(note_c10, &path) && caller && dladdr(caller, &info))
		path = info.dli_fname;
	if (path)
		handle = dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
	for (unsigned i = 0; handle && i < TORCH_FUNCTIONS; i++) {
		void *real = resolve_dlsym(handle, names[i]);

		if (real && !resolve_is_ours(real))
			atomic_store(&torch_reals[i], real);
	}
	if (handle)
		resolve_dlclose(handle);
}

/* Reads torch/version.py, one folder above torch/lib/libc10.so. Debian's PyTorch lacks it. */
static __attribute__((noinline)) void read_version(const void *address)
{
	static const char key[] = "__version__ = '";
	static char known[64];
	char path[4096];
	char text[1024];
	Dl_info info;
	const char *at;

	if (atomic_exchange(&version_read, true) || !dladdr(address, &info) || !info.dli_fname ||
	    !strchr(info.dli_fname, '/'))
		return;
	text_beside(path, sizeof(path), info.dli_fname, "../version.py");
	if (fd_read_file(path, text, sizeof(text)) <= 0)
		return;
	at = strstr(text, key);
	if (!at)
		return;
	at += sizeof(key) - 1;
	text_copy_n(known, sizeof(known), at, strcspn(at, "'"));
	atomic_store_explicit(&version, known, memory_order_release);
}

const char *torch_version(void)
{
	return atomic_load_explicit(&version, memory_order_acquire);
}

void torch_prepare(void)
{
	_Atomic(void *) *asked = &torch_reals[TORCH__ZN3c1022memoryProfilingEnabledEv];

	if (!atomic_load_explicit(asked, memory_order_relaxed))
		find_all(NULL);
	if (atomic_load_explicit(asked, memory_order_relaxed))
		read_version(atomic_load_explicit(asked, memory_order_relaxed));
}

/* Looks a function up only once, because a look-up takes microseconds. When libraries are loaded
 * later, torch_prepare() looks again. */
__attribute__((noinline, cold)) void *torch_ask_real(enum torch_function function, void *caller)
{
	if (!atomic_load_explicit(&asked_caller[function], memory_order_relaxed) &&
	    !atomic_exchange(&asked_caller[function], true)) {
		LOADER_CALLED();
		find_all(caller);
	}
	return atomic_load_explicit(&torch_reals[function], memory_order_relaxed);
}
