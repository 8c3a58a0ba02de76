/* memtrace doctor [-- CMD]: checks what recording needs, and says how to fix what is missing. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings/opt.h"
#include "base/settings/version.h"
#include "cli/cli.h"
#include "cli/doctor/doctor.h"
#include "render/values/values.h"

static const char about[] =
	"Checks everything that recording needs: the library, CUDA, the unwinder, Python, the "
	"settings in the environment, the output directory, and whether a library can be "
	"preloaded into CMD. The status is 1 if nothing can be recorded.\n";

static unsigned found[FINDING_MISSING + 1];

void doctor_say(enum finding finding, const char *what, const char *mend, const char *format, ...)
{
	static const char *const words[] = { "ok", "note", "warn", "missing" };
	static const char *const colours[] = { "\033[32m", "\033[2m", "\033[33m", "\033[31m" };
	struct out *out = cli_out();
	bool colour = cli_colour(out->fd);
	char text[2 * PATH_MAX];
	char safe[1000];
	va_list arguments;

	found[finding]++;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	show_safe(safe, sizeof(safe), text, sizeof(safe));
	out_format(out, "%s%-8s%s %-13s %s\n", colour ? colours[finding] : "", words[finding],
		   colour ? "\033[0m" : "", what, safe);
	if (!mend)
		return;
	show_safe(safe, sizeof(safe), mend, sizeof(safe));
	out_format(out, "%-8s %-13s   %s\n", "", "", safe);
}

int cmd_doctor(int argc, char **argv)
{
	const struct usage usage = { "doctor", "[-- CMD...]", about, NULL, 0, 0, 0, true };
	int parsed = args_parse(&usage, &argc, argv);
	char own[PATH_MAX];

	if (parsed != ARGS_GO)
		return parsed;
	opt_read();
	doctor_say(FINDING_OK, "memtrace", NULL, "%s, %s", MEMTRACE_VERSION,
		   realpath("/proc/self/exe", own) ? own : "no /proc/self/exe");
	doctor_built();
	doctor_library();
	doctor_cuda();
	doctor_pythons();
	doctor_settings();
	doctor_output();
	doctor_compression();
	if (argc > 1)
		doctor_program(argv[1]);
	if (!found[FINDING_MISSING] && !found[FINDING_WARN])
		out_text(cli_out(), "\nNo problem was found.\n");
	else
		out_format(cli_out(), "\nProblems that prevent recording: %u. Warnings: %u.\n",
			   found[FINDING_MISSING], found[FINDING_WARN]);
	return found[FINDING_MISSING] ? STATUS_NO : STATUS_DONE;
}
