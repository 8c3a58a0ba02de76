/* memtrace html TRACE [TRACE2] | TRACE...: writes a self-contained HTML page about traces. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyse/input/error.h"
#include "base/text/fd.h"
#include "base/text/text.h"
#include "cli/cli.h"
#include "cli/traces.h"
#include "render/page/page.h"

static const char about[] =
	"Writes one HTML file that opens from disk, needs no network and holds the whole trace: "
	"curves over time and over events, the memory live at any moment as a flame graph, a "
	"table, and maps of blocks and of segments, leaks, growth and advice. With two traces "
	"(base and head), both curves share one axis, next to the difference by call site. More "
	"than two traces, or a folder, are the ranks of one job: the page shows all ranks in "
	"tables (as memtrace merge does), and the rank with the highest peak in full.\n";

/* An input of the page. The page reads its inputs several times, so a pipe is copied first. */
struct input {
	char path[64]; /* /proc/self/fd/N of the copy of a pipe; "" for other inputs */
	int fd;
};

static int copy_of(int fd)
{
	static char buffer[1 << 16];
	int copy = memfd_create("memtrace-html", MFD_CLOEXEC);
	bool first = true;
	ssize_t got = 0;

	while (copy >= 0 && (got = fd_read_all(fd, buffer, sizeof(buffer))) > 0) {
		if (fd_write_all(copy, buffer, (size_t)got))
			return -1;
		/* Not a trace: such input may never end, so copying stops. */
		if (first && !strchr("{M\x1f\x28\x50 \t\r\n", buffer[0]))
			break;
		first = false;
	}
	return got < 0 ? -1 : copy;
}

static int take_input(struct page_input *page, struct input *input, const char *path)
{
	struct stat status;
	bool standard = !strcmp(path, "-");
	int fd;

	*page = (struct page_input){ path, standard ? "standard input" : text_base(path) };
	*input = (struct input){ "", -1 };
	if (!standard && (stat(path, &status) || !S_ISFIFO(status.st_mode)))
		return 0;
	fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	input->fd = fd < 0 ? -1 : copy_of(fd);
	if (!standard && fd >= 0)
		close(fd);
	if (input->fd < 0)
		return err("%s cannot be read: %s", page->name, strerror(errno));
	snprintf(input->path, sizeof(input->path), "/proc/self/fd/%d", input->fd);
	page->path = input->path;
	return 0;
}

/* Replaces the path of a copied input in err_text() by the name that the user gave. */
static void name_inputs(const struct page_input *pages, size_t count)
{
	foreach (page, pages, count) {
		size_t length = strlen(page->path);

		if (!strncmp(page->path, "/proc/self/fd/", 14) &&
		    !strncmp(err_text(), page->path, length)) {
			char text[1000];

			text_copy(text, sizeof(text), err_text() + length);
			err("%s%s", page->name, text);
			return;
		}
	}
}

/* Removes the unfinished page if it is a regular file. */
static int fail(const char *output)
{
	struct stat status;

	if (output && !lstat(output, &status) && S_ISREG(status.st_mode))
		unlink(output);
	return cli_fail(STATUS_UNREADABLE);
}

/* --- ranks --- */

static bool are_ranks(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (argc > 3 || traces_is_folder(argv[i]))
			return true;
	}
	return false;
}

/* Returns the first trace that cannot be read twice (standard input or a pipe), or NULL. */
static const char *read_once(const struct traces *traces)
{
	struct stat status;

	for (size_t i = 0; i < traces->count; i++) {
		const char *path = traces->paths[i];

		if (!strcmp(path, "-") || (!stat(path, &status) && S_ISFIFO(status.st_mode)))
			return path;
	}
	return NULL;
}

static int take_ranks(struct merge *merge, struct traces *traces, const char *const *operands,
		      bool force)
{
	const char *once;
	int error = traces_add(traces, operands);

	if (error)
		return error;
	once = read_once(traces);
	if (once)
		return err("%s can be read only once, but the traces of ranks are read twice: use "
			   "regular files",
			   strcmp(once, "-") ? once : "standard input");
	return traces_fold(merge, traces, force);
}

/* --- the command --- */

struct request {
	struct page_options options;
	struct page_input pages[2];
	struct input inputs[2];
	size_t count;
	struct merge merge;
	struct traces traces;
};

static int take_request(struct request *request, int argc, char **argv, bool force)
{
	const struct merge_rank *rank;
	int error = 0;

	if (!are_ranks(argc, argv)) {
		for (; !error && (int)request->count < argc - 1; request->count++)
			error = take_input(&request->pages[request->count],
					   &request->inputs[request->count],
					   argv[request->count + 1]);
		return error;
	}
	error = take_ranks(&request->merge, &request->traces, (const char *const *)argv + 1, force);
	if (error)
		return error;
	rank = merge_worth_a_look(&request->merge);
	/* With a single rank there is nothing to merge: the page shows that trace alone. */
	if (request->merge.order_n > 1 || !rank)
		request->options.ranks = &request->merge;
	request->count = rank != NULL;
	return rank ? take_input(&request->pages[0], &request->inputs[0], rank->path) : 0;
}

static void let_go(struct request *request)
{
	foreach (input, request->inputs, request->count) {
		if (input->fd >= 0)
			close(input->fd);
	}
	merge_clear(&request->merge);
	traces_clear(&request->traces);
}

static int write_page(struct request *request, const char *output)
{
	int error = cli_redirect(output);

	if (error)
		return cli_fail(STATUS_UNREADABLE);
	error = page_write(request->pages, request->count, cli_out(), &request->options);
	if (error)
		name_inputs(request->pages, request->count);
	return error ? fail(output) : STATUS_DONE;
}

int cmd_html(int argc, char **argv)
{
	struct request request = { .options = { .max_events = 2000000 } };
	const char *output = NULL;
	bool force = false;
	int status;
	const struct arg args[] = {
		ARG_OUTPUT_TO(&output),
		ARG("anonymize", 0, FLAG, NULL,
		    "hide paths, and all names except those of public libraries",
		    &request.options.anonymize),
		ARG_RULES_FROM(&request.options.rules),
		ARG("max-events", 0, NUMBER, "N",
		    "show at most N events, and only totals of the others "
		    "(default 2000000; 0: no limit)",
		    &request.options.max_events),
		ARG("force", 0, FLAG, NULL,
		    "show ranks even if they are from different jobs or given twice", &force),
	};
	const struct usage usage = USAGE("html", "TRACE [TRACE2] | TRACE...", about, args, 1, 0);
	int parsed = args_parse(&usage, &argc, argv);

	if (parsed != ARGS_GO)
		return parsed;
	if (!output && isatty(STDOUT_FILENO))
		return cli_usage("not writing an HTML page to a terminal; use -o report.html");
	if (!page_is_built())
		return cli_fail(STATUS_USAGE);
	status = take_request(&request, argc, argv, force) ? cli_fail(STATUS_UNREADABLE)
							   : write_page(&request, output);
	let_go(&request);
	return status;
}
