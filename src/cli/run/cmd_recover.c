/* memtrace recover SPOOL: the trace that a killed process did not come to write. */
#include <unistd.h>

#include "analyse/trace/trace.h"
#include "base/text/utf8.h"
#include "cli/cli.h"
#include "cli/run/recovery.h"

static const char about[] =
	"Writes the trace of a process that was killed, crashed or left by _exit, from the "
	"spool that it left. Nothing that was recorded is lost. The spool stays; every command "
	"reads it as it is. Without -o the trace goes beside the spool, under the next free "
	"name. A FILE named *.json.gz or *.json.zst is written compressed.\n";

int cmd_recover(int argc, char **argv)
{
	struct recovery recovery = { .ending = { UINT64_MAX, UINT64_MAX } };
	char output[4096];
	const struct arg args[] = {
		ARG("output", 'o', TEXT, "FILE", "write there", &recovery.output),
		ARG("force", 'f', FLAG, NULL,
		    "replace FILE; read the spool of a running process too", &recovery.force),
	};
	const struct usage usage = { "recover", "SPOOL", about, args, 2, 1, 1, false };
	int parsed = args_parse(&usage, &argc, argv);

	if (parsed != ARGS_GO)
		return parsed;
	recovery.spool = argv[1];
	if (!recovery.output) {
		recovery_name(output, sizeof(output), recovery.spool);
		recovery.output = output;
		recovery.numbered = true;
	}
	if (recovery_run(&recovery))
		return cli_fail(STATUS_UNREADABLE);
	/* A script wants the name as it is. */
	if (isatty(STDOUT_FILENO))
		utf8_clean(recovery.written);
	out_format(cli_out(), "%s\n", recovery.written);
	return STATUS_DONE;
}
