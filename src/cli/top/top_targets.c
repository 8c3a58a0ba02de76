/* Finds the processes that `memtrace top` shows, and opens and reads their spools. */
#include "base/mem/each.h"
#include "cli/top/top_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/input/grow.h"
#include "base/guest/clock.h"
#include "cli/cli.h"
#include "cli/run/live_spools.h"

/* ns between two searches for processes: a search reads /proc/PID/maps of all processes. */
static const uint64_t SEARCH_EVERY = 5000000000;

static bool comes_before(const struct look *x, const struct look *y)
{
	return x->pid != y->pid ? x->pid < y->pid
				: strcmp(x->follow.spool.path, y->follow.spool.path) < 0;
}

static int add_target(struct top_targets *targets, const char *path, int pid)
{
	struct look *look = malloc(sizeof(*look));
	size_t at = targets->count;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers */
	int error = look && GROW(targets->looks, at, targets->size, 8)
			    ? live_view_open(look, path, pid)
			    : err("no memory left");

	if (error) {
		free(look);
		return -EINVAL;
	}
	for (; at && comes_before(look, targets->looks[at - 1]); at--)
		targets->looks[at] = targets->looks[at - 1];
	targets->looks[at] = look;
	targets->count++;
	return 0;
}

static void leave(struct top_targets *targets, size_t at)
{
	live_view_close(targets->looks[at]);
	free(targets->looks[at]);
	targets->count--;
	memmove(targets->looks + at, targets->looks + at + 1,
		(targets->count - at) * sizeof(struct look *));
}

static int find_pid(struct live_spools *found, pid_t pid)
{
	size_t before = found->count;
	int error = live_spools_of(found, pid);

	if (error == -ESRCH)
		return err("there is no process %d", (int)pid);
	if (error)
		return err("process %d cannot be inspected: %s", (int)pid, strerror(-error));
	if (found->count > before)
		return 0;
	if (found->deleted)
		return err("the spool file of process %d was removed", (int)pid);
	return err("process %d is not traced: it was started without memtrace, or has used no GPU "
		   "memory yet",
		   (int)pid);
}

static struct look *find_look(const struct top_targets *targets, const struct live_spool *spool)
{
	for (size_t i = 0; i < targets->count; i++) {
		if (targets->looks[i]->pid == spool->pid &&
		    !strcmp(targets->looks[i]->follow.spool.path, spool->path))
			return targets->looks[i];
	}
	return NULL;
}

/* Opens the spools that are not shown yet. A spool that is just being created or removed may be
 * unreadable, which is an error only if the user named processes. */
static int add_found(struct top_targets *targets, const struct live_spools *found)
{
	foreach (row, found->list, found->count) {
		if (!find_look(targets, row) && add_target(targets, row->path, row->pid) &&
		    targets->words[0])
			return -EINVAL;
	}
	return 0;
}

static int open_words(struct top_targets *targets, struct live_spools *found)
{
	int error = 0;

	for (char **word = targets->words; *word && !error; word++) {
		pid_t pid = live_spools_pid(*word);

		error = pid ? find_pid(found, pid) : add_target(targets, *word, 0);
	}
	return error ? error : add_found(targets, found);
}

int top_targets_open(struct top_targets *targets, char **words)
{
	struct live_spools found = { 0 };
	int status = STATUS_DONE;

	*targets = (struct top_targets){ .words = words, .searched_at = clock_now() };
	if (words[0]) {
		status = open_words(targets, &found) ? STATUS_UNREADABLE : STATUS_DONE;
	} else {
		if (live_spools_all(&found) || add_found(targets, &found))
			status = STATUS_UNREADABLE;
		if (!targets->count && status == STATUS_DONE) {
			err("no traced process of this user has used GPU memory; start one with: "
			    "memtrace run -- PROGRAM");
			status = STATUS_NO;
		}
	}
	live_spools_clear(&found);
	return status;
}

/* True if an operand is the path of this spool: it is shown even if no process maps it. */
static bool is_word(const struct top_targets *targets, const struct look *look)
{
	for (char **word = targets->words; *word; word++) {
		if (!strcmp(*word, look->follow.spool.path))
			return true;
	}
	return false;
}

/* Finds new processes. A process that no longer maps its spool counts as ended: after exec it has
 * the same pid, but runs another program. */
static void search(struct top_targets *targets)
{
	struct live_spools found = { 0 };

	targets->searched_at = clock_now();
	if (!targets->words[0])
		live_spools_all(&found);
	for (char **word = targets->words; *word; word++) {
		if (live_spools_pid(*word))
			live_spools_of(&found, live_spools_pid(*word));
	}
	for (size_t i = 0; i < targets->count; i++)
		targets->looks[i]->running &= is_word(targets, targets->looks[i]);
	foreach (row, found.list, found.count) {
		struct look *look = find_look(targets, row);

		if (look)
			look->running = true;
	}
	add_found(targets, &found);
	live_spools_clear(&found);
}

void top_targets_look(struct top_targets *targets)
{
	for (size_t i = targets->count; i--;) {
		struct look *look = targets->looks[i];
		bool ended = !look->running;
		int error = ended ? 0 : live_view_now(look);

		if (error)
			snprintf(targets->said, sizeof(targets->said), "%s", err_text());
		else if (ended)
			snprintf(targets->said, sizeof(targets->said), "process %d has ended",
				 look->pid);
		targets->failed |= error != 0;
		if (error || ended)
			leave(targets, i);
	}
	if (clock_now() - targets->searched_at > SEARCH_EVERY)
		search(targets);
}

void top_targets_sort(struct top_targets *targets, enum live_view_order order)
{
	foreach (look, targets->looks, targets->count)
		live_view_lines_sort(&(*look)->lines, order);
}

void top_targets_close(struct top_targets *targets)
{
	while (targets->count)
		leave(targets, targets->count - 1);
	free(targets->looks);
	targets->looks = NULL;
}
