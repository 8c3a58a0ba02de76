/*
 * Places the code and data of the library's constructor side by side in memory.
 *
 * The constructor runs in every process that inherits LD_PRELOAD, even in shells and compilers.
 * Most of its cost there is touching pages for the first time, so it touches few.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* For a small variable that the constructor or a forked child writes. All of these lie in a page
 * that the loader writes anyway (src/libmemtrace.ld). */
#define START_DATA __attribute__((section("memtrace_start")))

/* For a constant without pointers that the constructor reads; lies next to START_CODE. */
#define START_CONST __attribute__((section(".rodata.startup")))

/* For a function that the constructor calls. Linkers place sections of this name together. */
#define START_CODE __attribute__((section(".text.startup")))

/*
 * String functions for the constructor, which work byte by byte.
 *
 * A call of a libc function would need a symbol lookup, which takes longer than a loop over a
 * short text. The barriers keep compilers from replacing a loop by a call of strlen().
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

/* Returns the rest of `text` after `begin`, NULL if `text` does not begin with `begin`. */
static inline const char *start_after(const char *text, const char *begin)
{
	for (; *begin && *text == *begin; text++, begin++)
		START_BARRIER();
	return *begin ? NULL : text;
}

/* Appends `from` and a NUL to a buffer of `size` bytes that holds a text of `used` bytes. Returns
 * the new length: size - 1 if the text may have been cut off. */
static inline size_t start_append(char *to, size_t size, size_t used, const char *from)
{
	for (; *from && used + 1 < size; from++) {
		to[used++] = *from;
		START_BARRIER();
	}
	to[used] = '\0';
	return used;
}
