/*
 * Binds the library to old versions of libc's functions, so that it loads under glibc 2.17. The
 * Makefile includes this header in each file of the library (scripts/check-symbols.sh).
 */
#pragma once
#ifndef __ASSEMBLER__
#include <features.h>

#if defined(__x86_64__)
#define OLD_NAME(name, version) ".symver " name "@GLIBC_" version "\n"
#else
#define OLD_NAME(name, version) ".symver " name "@GLIBC_2.17\n" /* the oldest there is */
#endif

/* In libdl until glibc 2.34. They are weak, for with libdl.so.2 as a needed library each process
 * that inherits LD_PRELOAD would load it. The constructor leaves a process without them alone,
 * which can load no CUDA. The linker on an old system, and its --wrap (DEBUG=1), know no such
 * versions. */
__asm__(".weak dladdr, dladdr1, dlerror, dlinfo, dlopen, dlvsym");
#if __GLIBC_PREREQ(2, 34) && !defined(MEMTRACE_DEBUG)
__asm__(OLD_NAME("dladdr, dladdr", "2.2.5") OLD_NAME("dladdr1, dladdr1", "2.3.3")
		OLD_NAME("dlerror, dlerror", "2.2.5") OLD_NAME("dlinfo, dlinfo", "2.3.3")
			OLD_NAME("dlopen, dlopen", "2.2.5") OLD_NAME("dlvsym, dlvsym", "2.2.5"));
#endif

/* glibc 2.38 gives C23's functions, which read binary numbers too, names of their own. The texts
 * are those of strerrordesc_np(), which is of glibc 2.32. */
extern const char *const old_errors[135];
__asm__(OLD_NAME("__isoc23_strtoul, strtoul", "2.2.5")
		OLD_NAME("__isoc23_strtoull, strtoull", "2.2.5")
			OLD_NAME("old_errors, _sys_errlist", "2.12"));
#endif
