/*
 * A unit test program: rows of TEST(name) { ... }, each run in a process of its own, TAP on stdout.
 *
 * Include it in the one file of the program; main() is here. A test that crashes, hangs or leaves
 * by exit() fails alone. `test_x NAME...` runs the tests whose name contains one of the words,
 * and with CHECK_NOFORK=1 in this very process, for a debugger.
 *
 *	TEST(codec_round_trip)
 *	{
 *		EQ(varint_size(300), 2);	integers and pointers
 *		STR(text, "abc");		strings, NULL allowed
 *		MEM(bytes, wanted, 4);		memory
 *		OK(decode(bytes, 4) == 0);	anything that is true or false
 *	}
 *
 * The first of them that does not hold ends the test. SKIP("why") ends it without a verdict.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CHECK_SECONDS
#define CHECK_SECONDS 60 /* what one test may take */
#endif

enum { CHECK_PASSED = 0, CHECK_FAILED = 1, CHECK_SKIPPED = 77, CHECK_CHILD = 78 };

struct check_row {
	const char *name;
	void (*run)(void);
};

/* The section holds pointers: an array of structs could be padded between two rows. */
#define TEST(test)                                                          \
	static void test_##test(void);                                      \
	static const struct check_row row_##test = { #test, test_##test };  \
	static const struct check_row *const pointer_##test                 \
		__attribute__((used, section("check_rows"))) = &row_##test; \
	static void test_##test(void)

#define OK(condition) check_ok((condition) ? true : false, #condition, __FILE__, __LINE__)
#define EQ(got, wanted) \
	check_eq((intmax_t)(got), (intmax_t)(wanted), #got, #wanted, __FILE__, __LINE__)
#define STR(got, wanted) check_str((got), (wanted), #got, __FILE__, __LINE__)
#define MEM(got, wanted, size) check_mem((got), (wanted), (size), #got, __FILE__, __LINE__)
#define SKIP(why) check_skip(why)

/* Of the linker: the first row and the one behind the last. */
extern const struct check_row *const __start_check_rows[];
extern const struct check_row *const __stop_check_rows[];

/* TAP comments are one line each; a failing test has nothing to give back, so _exit will do. */
__attribute__((noreturn)) static void check_end(int status)
{
	fflush(NULL);
	_exit(status);
}

__attribute__((unused)) static void check_ok(bool held, const char *text, const char *file,
					     int line)
{
	if (held)
		return;
	printf("# %s:%d: %s does not hold\n", file, line, text);
	check_end(CHECK_FAILED);
}

__attribute__((unused)) static void check_eq(intmax_t got, intmax_t wanted, const char *got_text,
					     const char *wanted_text, const char *file, int line)
{
	if (got == wanted)
		return;
	printf("# %s:%d: %s is %jd (%#jx), wanted %s = %jd (%#jx)\n", file, line, got_text, got,
	       (uintmax_t)got, wanted_text, wanted, (uintmax_t)wanted);
	check_end(CHECK_FAILED);
}

static void check_print(const char *what, const char *text)
{
	printf("#   %s ", what);
	if (!text)
		printf("NULL");
	for (; text && *text; text++)
		printf(*text == '\n' ? "\n#     " : "%c", *text);
	printf("\n");
}

__attribute__((unused)) static void check_str(const char *got, const char *wanted, const char *text,
					      const char *file, int line)
{
	if (got == wanted || (got && wanted && !strcmp(got, wanted)))
		return;
	printf("# %s:%d: %s\n", file, line, text);
	check_print("is    ", got);
	check_print("wanted", wanted);
	check_end(CHECK_FAILED);
}

__attribute__((unused)) static void check_mem(const void *got, const void *wanted, size_t size,
					      const char *text, const char *file, int line)
{
	const unsigned char *a = got;
	const unsigned char *b = wanted;

	for (size_t i = 0; i < size; i++) {
		if (a[i] == b[i])
			continue;
		printf("# %s:%d: %s: byte %zu of %zu is %#x, wanted %#x\n", file, line, text, i,
		       size, a[i], b[i]);
		check_end(CHECK_FAILED);
	}
}

__attribute__((unused, noreturn)) static void check_skip(const char *why)
{
	printf("# skip: %s\n", why);
	check_end(CHECK_SKIPPED);
}

/* exit(), not _exit(): a leak checker linked in speaks then. CHECK_CHILD tells this end from a
 * test that called exit(0) by itself. */
static int check_run(const struct check_row *row)
{
	int report[2];
	int status = 0;
	char done = 0;

	if (pipe(report))
		return -1;
	fflush(NULL);
	pid_t child = fork();
	if (child < 0)
		return -1;
	if (child == 0) {
		close(report[0]);
		alarm(CHECK_SECONDS);
		row->run();
		if (write(report[1], "y", 1) != 1)
			check_end(CHECK_CHILD);
		fflush(NULL);
		exit(CHECK_PASSED);
	}
	close(report[1]);
	while (waitpid(child, &status, 0) < 0)
		continue;
	bool ended = read(report[0], &done, 1) == 1;
	close(report[0]);
	return status == 0 && !ended ? CHECK_CHILD << 8 : status;
}

static const char *check_verdict(int status)
{
	static char text[80];

	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		snprintf(text, sizeof(text), "took more than %d s", CHECK_SECONDS);
	else if (WIFSIGNALED(status))
		snprintf(text, sizeof(text), "died of signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) == CHECK_CHILD)
		snprintf(text, sizeof(text), "left before its end");
	else
		snprintf(text, sizeof(text), "ended with status %d", WEXITSTATUS(status));
	return text;
}

static bool check_wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strstr(name, argv[i]))
			return true;
	return argc < 2;
}

int main(int argc, char **argv)
{
	int number = 0;
	int failed = 0;

	for (const struct check_row *const *at = __start_check_rows; at < __stop_check_rows; at++) {
		const struct check_row *row = *at;
		int status = 0;

		if (!check_wanted(row->name, argc, argv))
			continue;
		if (getenv("CHECK_NOFORK"))
			row->run();
		else
			status = check_run(row);
		if (WIFEXITED(status) && WEXITSTATUS(status) == CHECK_SKIPPED) {
			printf("ok %d - %s # SKIP\n", ++number, row->name);
			continue;
		}
		if (status && !(WIFEXITED(status) && WEXITSTATUS(status) == CHECK_FAILED))
			printf("# %s\n", check_verdict(status));
		failed += status != 0;
		printf("%sok %d - %s\n", status ? "not " : "", ++number, row->name);
	}
	printf("1..%d\n", number);
	return failed ? 1 : 0;
}
