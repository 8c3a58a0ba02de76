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
#define OLD_NAME(name, version) ".symver " name "@GLIBC_2.17\n" /* the oldest on aarch64 */
#endif

/* These functions were in libdl until glibc 2.34. They are weak: else each process that inherits
 * LD_PRELOAD would have to load libdl. (A process without libdl cannot load CUDA; the constructor
 * does nothing in it.) They get no versions on a system with an older glibc, whose libc lacks them,
 * and with DEBUG=1, as the linker's --wrap does not work with versions. */
__asm__(".weak dladdr, dladdr1, dlerror, dlinfo, dlopen, dlvsym");
#if __GLIBC_PREREQ(2, 34) && !defined(MEMTRACE_DEBUG)
__asm__(OLD_NAME("dladdr, dladdr", "2.2.5") OLD_NAME("dladdr1, dladdr1", "2.3.3")
		OLD_NAME("dlerror, dlerror", "2.2.5") OLD_NAME("dlinfo, dlinfo", "2.3.3")
			OLD_NAME("dlopen, dlopen", "2.2.5") OLD_NAME("dlvsym, dlvsym", "2.2.5"));
#endif

/* Headers since glibc 2.38 call C23's variants of these functions, which older versions lack.
 * old_errors[] has the texts that strerrordesc_np() returns, which glibc has only since 2.32. */
extern const char *const old_errors[135];
__asm__(OLD_NAME("__isoc23_strtoul, strtoul", "2.2.5")
		OLD_NAME("__isoc23_strtoull, strtoull", "2.2.5")
			OLD_NAME("old_errors, _sys_errlist", "2.12"));
#endif
