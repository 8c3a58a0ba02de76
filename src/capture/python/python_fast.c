/*
 * Computes the sum that identifies a stack of Python frames without listing the frames. Works only
 * where the offset of a code object's version number is known: in CPython 3.12 to PYTHON_NEWEST.
 *
 * A frame stays at its address while it runs, and its words mostly stay the same. Every frame is
 * compared with its copy from the last walk (struct python_trail). The sum of the frames outside
 * the outermost one that differs is kept; that frame and those inside it are added anew. The
 * processor need not read a frame to find the next frame: the last walk gives the address.
 */
#include "capture/python/python_parts.h"

#include "base/guest/hot.h"

enum { NUMBER_SHIFT = 8 };

/* Stands in a stack's sum for each shim: a frame that the interpreter adds for its own use. */
static const uint64_t SHIM = 1ULL << 63;

static inline bool is_shim(uint64_t kind)
{
	return python_owned_by_interpreter((uint8_t)kind);
}

static inline bool is_numbered(uint64_t kind)
{
	return kind >> NUMBER_SHIFT || is_shim(kind);
}

static inline const void *pointer(uint64_t address)
{
	return (const void *)(uintptr_t)address;
}

static inline const void *code_of(uint64_t word)
{
	return python_untagged(pointer(word));
}

static INLINED struct python_place look(const struct python_layout *at, uint64_t frame)
{
	struct python_place place = {
		.frame = frame,
		.code = python_word(pointer(frame), at->frame_code),
		.next = python_word(pointer(frame), at->frame_position),
		.kind = python_byte(pointer(frame), at->frame_owner),
	};

	if (__builtin_expect(!is_shim(place.kind), 1))
		place.kind |= (uint64_t)(uint32_t)python_int(code_of(place.code), at->code_version)
			      << NUMBER_SHIFT;
	return place;
}

static inline uint64_t outer(const struct python_layout *at, uint64_t frame)
{
	return python_word(pointer(frame), at->frame_previous);
}

static inline bool counts(const struct python_layout *at, const struct python_place *place)
{
	const void *code = code_of(place->code);
	int32_t position =
		(int32_t)(place->next - (uint64_t)(uintptr_t)code - (uint64_t)at->code_start);

	return is_shim(place->kind) || !python_incomplete(at, code, position, (uint8_t)place->kind);
}

/* A place's addend in the sum. `index`: the number of frames and shims further out. */
static inline unsigned __int128 part(const struct python_place *place, unsigned index)
{
	if (is_shim(place->kind))
		return python_part(SHIM, SHIM, 0, index);
	return python_part((uint64_t)(uintptr_t)code_of(place->code), place->kind >> NUMBER_SHIFT,
			   place->next, index);
}

/* Searches the trail for a frame, beginning near place `index`. Addresses mostly grow inwards.
 * Returns the position after the frame or, if the trail lacks it, after the next lower address. */
static inline unsigned search(const struct python_trail *trail, unsigned index, uint64_t frame)
{
	while (index && trail->at[index - 1].frame > frame)
		index--;
	while (index < trail->high && trail->at[index].frame <= frame)
		index++;
	return index;
}

/* Reads frames from *frame outwards into trail->fresh and counts them in *fresh, up to the stack's
 * end (*frame and *index are then 0) or, if `known`, to a frame in the trail (*frame is then that
 * frame, *index its position from 1). False for too many frames, or code without a version. */
static HOT_CODE bool gather(const struct python_layout *at, struct python_trail *trail,
			    uint64_t *frame, unsigned *fresh, unsigned *index, bool known)
{
	unsigned steps = 2 * PYTHON_TRAIL;

	for (*fresh = 0; *frame; *frame = outer(at, *frame)) {
		struct python_place place;

		if (known) {
			*index = search(trail, *index, *frame);
			if (*index && trail->at[*index - 1].frame == *frame)
				return true;
		}
		place = look(at, *frame);
		if (!steps-- || *fresh == PYTHON_TRAIL || !is_numbered(place.kind))
			return false;
		if (counts(at, &place))
			trail->fresh[(*fresh)++] = place;
	}
	*index = 0;
	return true;
}

/* Makes the compiler use this value, not an equal value that was just loaded and compared with it:
 * so the processor need not wait for the load. */
#define KNOWN_AS(value) __asm__("" : "+r"(value))

static INLINED bool is_same(const struct python_layout *at, const struct python_place *there)
{
	uint64_t frame = there->frame;
	uint64_t code = there->code;
	uint64_t kind;

	KNOWN_AS(frame);
	if (__builtin_expect(python_word(pointer(frame), at->frame_code) != code, 0))
		return false;
	KNOWN_AS(code);
	kind = python_byte(pointer(frame), at->frame_owner);
	if (__builtin_expect(!is_shim(kind), 1))
		kind |= (uint64_t)(uint32_t)python_int(code_of(code), at->code_version)
			<< NUMBER_SHIFT;
	return !((kind ^ there->kind) |
		 (python_word(pointer(frame), at->frame_position) ^ there->next));
}

/* Compares the trail's outermost `index` places with the frames from `frame` outwards, and updates
 * places that differ. False if a frame is incomplete or has another address or no version number,
 * or if there are more frames than places. */
static inline bool follow(const struct python_layout *from, struct python_trail *trail,
			  uint64_t frame, unsigned index)
{
	const struct python_layout at = *from;

	while (index) {
		struct python_place *there = &trail->at[--index];
		uint64_t known = there->frame;

		if (frame != known)
			return false;
		KNOWN_AS(known);
		if (__builtin_expect(!is_same(&at, there), 0)) {
			struct python_place place = look(&at, known);

			if (!is_numbered(place.kind) || !counts(&at, &place))
				return false;
			*there = place;
			trail->good = trail->good < index ? trail->good : index;
		}
		frame = outer(&at, known);
	}
	return !frame;
}

/* Puts the `fresh` places in trail->fresh after the trail's outermost `index` places. */
static void lay(struct python_trail *trail, unsigned index, unsigned fresh)
{
	if (fresh && trail->good > index)
		trail->good = index;
	while (fresh)
		trail->at[index++] = trail->fresh[--fresh];
	/* search() needs growing addresses: drops older inner places that have lower addresses. */
	if (index && index < trail->high && trail->at[index].frame <= trail->at[index - 1].frame)
		trail->high = index;
	if (trail->high < index)
		trail->high = index;
	trail->last = index;
}

static void add_up(struct python_trail *trail)
{
	for (unsigned i = trail->good; i < trail->last; i++) {
		trail->sum[i + 1] = trail->sum[i] + part(&trail->at[i], i);
		trail->frames[i + 1] = (uint16_t)(trail->frames[i] + !is_shim(trail->at[i].kind));
	}
	if (trail->good < trail->last)
		trail->good = trail->last;
}

HOT_CODE bool python_quick_walk(const struct python_layout *at, const void *innermost,
				struct python_frames *to)
{
	struct python_trail *trail = to->trail;
	uint64_t frame = (uint64_t)(uintptr_t)innermost;
	unsigned index = trail->last;
	unsigned fresh;

	if (at->code_version == PYTHON_NONE || at->frame_tlbc != PYTHON_NONE)
		return false;
	if (!gather(at, trail, &frame, &fresh, &index, true) || index + fresh > PYTHON_TRAIL)
		return false;
	if (!follow(at, trail, frame, index)) {
		frame = (uint64_t)(uintptr_t)innermost;
		if (!gather(at, trail, &frame, &fresh, &index, false))
			return false;
	}
	lay(trail, index, fresh);
	add_up(trail);
	if (trail->frames[trail->last] > to->capacity)
		return false;
	to->sum = trail->sum[trail->last];
	to->count = trail->frames[trail->last];
	return true;
}
