/*
 * Puts code and data that the library's constructor uses side by side in memory.
 *
 * The constructor runs in every process that inherits LD_PRELOAD, also in shells and compilers.
 * Most of its cost there is pages that are touched for the first time, so it touches few.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* For a small variable that the constructor or a forked child writes. All of these lie in a page
 * that the loader writes anyway (src/libmemtrace.ld). */
#define START_DATA __attribute__((section("memtrace_start")))

/* For a constant without pointers that the constructor reads: it lies beside the code. */
#define START_CONST __attribute__((section(".rodata.startup")))

/* For a function of the constructor alone. Linkers put sections of this name together. */
#define START_CODE __attribute__((section(".text.startup")))

/*
 * Functions on texts for the constructor, byte by byte.
 *
 * A libc function that it called by name would cost a look-up, which takes longer than these short
 * texts. The barriers keep compilers from recognising a loop as strlen() and calling that.
 */
#define START_BARRIER() __asm__ volatile("")

static inline size_t start_length(const char *text)
{
	size_t length = 0;

	for (; text[length]; length++)
		START_BARRIER();
	return length;
}

static inline bool start_same(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		START_BARRIER();
	return *a == *b;
}

/* The rest of a text after `begin`, NULL if the text does not begin so. */
static inline const char *start_after(const char *text, const char *begin)
{
	for (; *begin && *text == *begin; text++, begin++)
		START_BARRIER();
	return *begin ? NULL : text;
}

/* Appends to a buffer of `size` bytes, of which `used` are in use, and ends it with a NUL. Returns
 * the bytes in use then: size - 1 if the text may have been cut. */
static inline size_t start_append(char *to, size_t size, size_t used, const char *from)
{
	for (; *from && used + 1 < size; from++) {
		to[used++] = *from;
		START_BARRIER();
	}
	to[used] = '\0';
	return used;
}
