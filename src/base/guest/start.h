/*
 * What the library's constructor runs and writes, side by side in memory.
 *
 * It runs in every process that inherits LD_PRELOAD, shells and compilers included, and most of
 * what it costs them is pages touched for the first time: so what it touches shares a few.
 */
#ifndef BASE_GUEST_START_H
#define BASE_GUEST_START_H

/* A variable, small, that the constructor or a forked child writes: all lie in the page that the
 * loader writes anyway (src/libmemtrace.ld). */
#define START_DATA __attribute__((section("memtrace_start")))

/* A constant that the constructor reads, without pointers: the linker puts it beside the code. */
#define START_CONST __attribute__((section(".rodata.startup")))

/* A function for the constructor alone; linkers put what is named so together. */
#define START_CODE __attribute__((section(".text.startup")))

#endif
