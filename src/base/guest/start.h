/*
 * What the library's constructor runs and writes, side by side in memory.
 *
 * It runs in every process that inherits LD_PRELOAD, shells and compilers included, and most of
 * what it costs them is pages touched for the first time: so what it touches shares a few.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A variable, small, that the constructor or a forked child writes: all lie in the page that the
 * loader writes anyway (src/libmemtrace.ld). */
#define START_DATA __attribute__((section("memtrace_start")))

/* A constant that the constructor reads, without pointers: the linker puts it beside the code. */
#define START_CONST __attribute__((section(".rodata.startup")))

/* A function for the constructor alone; linkers put what is named so together. */
#define START_CODE __attribute__((section(".text.startup")))

/*
 * Texts for the constructor, byte by byte.
 *
 * What it calls of libc by name costs a look-up each, which takes longer than these texts are long.
 * The barriers keep compilers from finding a loop to be strlen() and calling that.
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

/* What follows `begin` in a text that begins so, NULL in any other. */
static inline const char *start_after(const char *text, const char *begin)
{
	for (; *begin && *text == *begin; text++, begin++)
		START_BARRIER();
	return *begin ? NULL : text;
}

/* Copies to a buffer of `size` bytes that holds `used`, ends it with a NUL, and returns what it
 * holds then: size - 1 where something was cut, perhaps. */
static inline size_t start_append(char *to, size_t size, size_t used, const char *from)
{
	for (; *from && used + 1 < size; from++) {
		to[used++] = *from;
		START_BARRIER();
	}
	to[used] = '\0';
	return used;
}
