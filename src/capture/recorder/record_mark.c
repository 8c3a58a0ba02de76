/* Records marks and ranges: limits their names, and stores them while no recording is open. */
#include <string.h>

#include "base/text/text.h"
#include "capture/recorder/record_parts.h"

enum {
	PENDING = 128, /* maximum number of marks stored before the first memory event */
	/* maximum number of different names, and of bytes of all names together */
	NAMES = 1 << 20,
	BYTES = 24 << 20,
	FOLDED = 1 << 16, /* maximum number of further names, in which numbers become "#" */
};

static struct {
	uint32_t names, bytes; /* different names so far, and their bytes */
	uint32_t folded;       /* further names so far, in which numbers became "#" */
	bool full;             /* the limit NAMES or BYTES was reached */
	uint32_t pending_count;
	uint64_t pending_lost;
	struct record_mark pending[PENDING]; /* marks from before the first memory event */
} marks;

/* Replaces each number in the name by #: "aten::mm, seq = 17" becomes "aten::mm, seq = #". */
static void fold_numbers(const char *name, char *to)
{
	bool in_number = false;

	for (; *name; name++) {
		bool digit = *name >= '0' && *name <= '9';

		if (!digit || !in_number)
			*to++ = (char)(digit ? '#' : *name);
		in_number = digit;
	}
	*to = '\0';
}

/* The text id of a mark's name. Names with a counter (a step, a sequence number) would fill the
 * table of texts, hence NAMES, BYTES and FOLDED. Once FOLDED is reached, all marks share a name. */
static uint32_t mark_name(const char *name)
{
	uint64_t before = spool_count(&recorder.spool, SPOOL_TEXT);
	char folded[sizeof(marks.pending->name)];
	uint32_t id;

	if (marks.folded >= FOLDED)
		return record_text("[too many names]");
	if (marks.full) {
		fold_numbers(name, folded);
		name = folded;
	}
	id = record_text(name);
	if (spool_count(&recorder.spool, SPOOL_TEXT) == before)
		return id;
	if (marks.full) {
		marks.folded++;
		return id;
	}
	marks.bytes += strlen(name) + 1;
	if (++marks.names < NAMES && marks.bytes < BYTES)
		return id;
	marks.full = true;
	record_fact("note", "there are very many different range names: in later ones, # stands "
			    "for any number");
	return id;
}

static void put_mark(const struct record_mark *from)
{
	struct event event = {
		.op = from->op,
		.t = from->t,
		.thread = from->thread,
		.stream = from->range,
		.device = NO_DEVICE,
		.detail = from->detail,
	};

	event.name = mark_name(from->name);
	event.pool = record_text(from->domain);
	event.detail.category = record_text(from->category);
	ledger_note(&recorder.ledger, &event);
}

static bool is_end_of(const struct record_mark *pop, const struct record_mark *push)
{
	if (pop->op != EVENT_POP || push->op != EVENT_PUSH || pop->range != push->range)
		return false;
	return pop->range || (pop->thread == push->thread && !strcmp(pop->domain, push->domain));
}

/* Stores a mark until the first memory event. Once the storage is half full, ranges that end are
 * dropped, because no memory was allocated in them; ranges that are still open are needed. */
static void put_pending(const struct record_mark *mark)
{
	uint32_t at = marks.pending_count;

	if (mark->op == EVENT_POP && marks.pending_count > PENDING / 2) {
		while (at && !is_end_of(mark, &marks.pending[at - 1]))
			at--;
		if (!at)
			return;
		memmove(marks.pending + at - 1, marks.pending + at,
			(marks.pending_count - at) * sizeof(*marks.pending));
		marks.pending_count--;
		return;
	}
	if (marks.pending_count < PENDING)
		marks.pending[marks.pending_count++] = *mark;
	else
		marks.pending_lost++;
}

void record_mark(struct record_mark *mark)
{
	overhead_enter(true);
	record_notice_fork();
	if (!record_on() || record_quiet() || record_interrupts(__builtin_frame_address(0)))
		return;
	mark->t = record_now();
	mark->thread = record_thread();
	record_lock();
	if (atomic_load(&record_process.open))
		put_mark(mark);
	else
		put_pending(mark);
	record_unlock();
	overhead_leave(SPOOL_COST_RANGE, true, true);
}

void record_mark_locked(const char *name)
{
	struct record_mark mark = { .op = EVENT_MARK,
				    .t = record_now(),
				    .thread = record_self.thread };

	text_copy(mark.name, sizeof(mark.name), name);
	if (!record_quiet())
		put_mark(&mark);
}

void record_marks_put(bool opened)
{
	for (uint32_t i = 0; opened && i < marks.pending_count; i++)
		put_mark(&marks.pending[i]);
	if (opened && marks.pending_lost)
		record_fact("note", "too many ranges and marks came before the first memory "
				    "event: some were not recorded");
	marks.pending_count = 0;
	marks.pending_lost = 0;
}

void record_marks_clear(void)
{
	memset(&marks, 0, offsetof(__typeof__(marks), pending));
}
