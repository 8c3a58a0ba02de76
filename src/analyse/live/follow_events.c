/*
 * Reads the events of a spool chunk by chunk while another process writes them.
 *
 * Most chunks are in a ring buffer and may be overwritten at any time. So a chunk's head is read
 * before and after the chunk, and the chunk is left out if its first event has changed.
 */
#include "analyse/live/follow.h"
#include "base/mem/each.h"

#include <string.h>
#include <sys/param.h>
#include <unistd.h>

struct chunk_part { /* a chunk: seq of its first event, position in the spool's table of chunks */
	uint64_t first;
	uint64_t index;
};

static bool read_chunk_head(const struct follow *follow, uint64_t index, struct spool_chunk *head)
{
	uint32_t block = follow->spool.blocks[SPOOL_CHUNK][index];

	return pread(follow->reading.fd, head, sizeof(*head), (off_t)block << SPOOL_BLOCK_SHIFT) ==
		       sizeof(*head) &&
	       head->used <= SPOOL_BLOCK - sizeof(*head);
}

/* Finds the chunks with events from `seq` on, only the newest `most` of them, and sorts them by
 * seq. Returns their number. */
static unsigned find_parts(struct follow *follow, uint64_t seq, unsigned most,
			   struct chunk_part *parts)
{
	uint64_t chunks = spool_count(&follow->spool, SPOOL_CHUNK);
	struct spool_chunk head;
	unsigned count = 0;

	/* Most often, the chunk read last is still being written and has all new events. */
	if (follow->newest && follow->newest <= chunks &&
	    read_chunk_head(follow, follow->newest - 1, &head) && head.first_seq <= seq &&
	    head.first_seq + head.events >= follow->spool.header->seq) {
		parts[0] = (struct chunk_part){ head.first_seq, follow->newest - 1 };
		return 1;
	}
	for (uint64_t i = 0; i < chunks; i++) {
		unsigned at = count;

		if (!read_chunk_head(follow, i, &head) || !head.events ||
		    head.first_seq + head.events <= seq)
			continue;
		while (at && parts[at - 1].first > head.first_seq)
			at--;
		if (count == most && !at)
			continue;
		if (count == most) { /* drop the oldest chunk */
			at--;
			memmove(parts, parts + 1, at * sizeof(*parts));
		} else {
			memmove(parts + at + 1, parts + at, (count++ - at) * sizeof(*parts));
		}
		parts[at] = (struct chunk_part){ head.first_seq, i };
	}
	return count;
}

/* Reads a chunk; false if it was overwritten with later events, or cannot be read. */
static bool read_chunk(struct follow *follow, const struct chunk_part *part,
		       struct spool_chunk *head)
{
	uint32_t block = follow->spool.blocks[SPOOL_CHUNK][part->index];
	struct spool_chunk after;

	if (!read_chunk_head(follow, part->index, head) ||
	    pread(follow->reading.fd, follow->chunk, head->used,
		  ((off_t)block << SPOOL_BLOCK_SHIFT) + (off_t)sizeof(*head)) !=
		    (ssize_t)head->used ||
	    !read_chunk_head(follow, part->index, &after))
		return false;
	return head->first_seq == part->first && after.first_seq == part->first;
}

/* Calls `each` for the events that wait to be written to a chunk (pending.h). Returns 1 + the
 * last event's sequence number, or `seq`. Events keep their numbers when they are written. */
static uint64_t hand_over_waiting(const struct follow *follow, uint64_t seq, follow_event_fn *each,
				  void *context)
{
	foreach (event, follow->spool.caught) {
		if (event->seq < seq)
			continue;
		each(context, event);
		seq = event->seq + 1;
	}
	return seq;
}

uint64_t follow_events(struct follow *follow, uint64_t seq, unsigned chunks, follow_event_fn *each,
		       void *context)
{
	static struct decoder decoder;
	struct chunk_part parts[FOLLOW_CHUNKS];
	unsigned count = find_parts(follow, seq, MIN(chunks, FOLLOW_CHUNKS), parts);

	foreach (part, parts, count) {
		struct spool_chunk head;
		struct event event;

		if (!read_chunk(follow, part, &head))
			continue;
		decode_start(&decoder, follow->chunk, head.used, head.first_seq, head.t);
		while (decode_event(&decoder, &event) == 1) {
			if (event.seq < seq)
				continue;
			each(context, &event);
			seq = event.seq + 1;
		}
		follow->newest = part->index + 1;
	}
	return hand_over_waiting(follow, seq, each, context);
}
