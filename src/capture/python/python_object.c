/* Reading CPython's objects, each checked before it is believed. */
#include "capture/python/python_object.h"

#include <errno.h>
#include <stdint.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/text/utf8.h"

enum { TRIED_FRAMES = 32, TRIED_STEPS = 64, LENGTH_AT_MOST = 1 << 24, REPLACEMENT = 0xfffd };

static uint32_t character(const void *text, unsigned width, uint64_t index)
{
	uint32_t c = width == 1   ? ((const uint8_t *)text)[index]
		     : width == 2 ? ((const uint16_t *)text)[index]
				  : ((const uint32_t *)text)[index];

	return c ? c : REPLACEMENT;
}

bool python_text(const struct python_interpreter *python, const void *text, char *to, size_t size)
{
	const struct python_layout *at = &python->layout;
	uint32_t state = (uint32_t)python_int(text, at->text_state) >> at->text_shift;
	uint64_t length = python_word(text, at->text_length);
	unsigned width = state & 7;
	bool compact = state & 8;
	bool ascii = state & 16;
	const void *data = (const char *)text + (ascii ? at->text_ascii : at->text_compact);
	size_t used = 0;

	to[0] = '\0';
	if (length >= LENGTH_AT_MOST || (width != 1 && width != 2 && width != 4))
		return false;
	if (!compact) /* a subclass: the characters are elsewhere, whatever they are */
		data = python_pointer(text, at->text_compact);
	for (uint64_t i = 0; data && i < length; i++) {
		size_t more = utf8_encode(to + used, size - 1 - used, character(data, width, i));

		if (!more)
			break;
		used += more;
	}
	to[used] = '\0';
	return data != NULL;
}

/* Reads that fail instead of faulting where a layout has still to prove itself (`careful`). */
struct trial {
	const struct python_interpreter *python;
	bool careful;
	bool failed;
	bool barred;
};

static void look(struct trial *trial, void *to, const void *base, int32_t offset, size_t size)
{
	struct iovec here = { to, size };
	struct iovec there = { (char *)(uintptr_t)base + offset, size };

	memset(to, 0, size);
	trial->failed |= !base;
	if (trial->failed)
		return;
	if (!trial->careful) {
		memcpy(to, there.iov_base, size);
	} else if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != (ssize_t)size) {
		trial->failed = true;
		trial->barred = errno == EPERM || errno == ENOSYS;
	}
}

static const void *follow(struct trial *trial, const void *base, int32_t offset)
{
	const void *value;

	look(trial, &value, base, offset, sizeof(value));
	return value;
}

/* Whether the object that stands there is of the kind that `flag` names, or of a kind derived from
 * it: a str of another class may name a file, for compile() takes one as it is. */
static void expect_kind(struct trial *trial, const void *base, int32_t offset, uint64_t flag)
{
	const struct python_layout *at = &trial->python->layout;
	const void *type = follow(trial, follow(trial, base, offset), at->object_type);
	uint64_t flags;

	look(trial, &flags, type, at->object_type + PYTHON_TYPE_FLAGS, sizeof(flags));
	trial->failed |= (flags & (PYTHON_IS_TEXT | PYTHON_IS_BYTES)) != flag;
}

static void try_code(struct trial *trial, const void *code)
{
	const struct python_layout *at = &trial->python->layout;

	trial->failed |= follow(trial, code, at->object_type) != trial->python->code_type;
	expect_kind(trial, code, at->code_file, PYTHON_IS_TEXT);
	expect_kind(trial, code, at->code_name, PYTHON_IS_TEXT);
	if (at->code_qualname != PYTHON_NONE)
		expect_kind(trial, code, at->code_qualname, PYTHON_IS_TEXT);
	expect_kind(trial, code, at->code_table, PYTHON_IS_BYTES);
}

bool python_is_code(const struct python_interpreter *python, const void *code)
{
	struct trial trial = { .python = python };

	try_code(&trial, code);
	return !trial.failed;
}

enum python_verdict python_try(const struct python_interpreter *python, const void *thread)
{
	const struct python_layout *at = &python->layout;
	struct trial trial = { .python = python, .careful = true };
	unsigned frames = 0;
	int error = errno;
	const void *frame = follow(&trial, thread, at->thread_frame);

	if (at->thread_cframe != PYTHON_NONE && frame)
		frame = follow(&trial, frame, at->thread_cframe);
	for (unsigned step = 0; frame && frames < TRIED_FRAMES && step < TRIED_STEPS; step++) {
		uint8_t owner = 0;

		if (at->frame_owner != PYTHON_NONE)
			look(&trial, &owner, frame, at->frame_owner, sizeof(owner));
		if (!python_owned_by_interpreter(owner)) {
			try_code(&trial, python_untagged(follow(&trial, frame, at->frame_code)));
			frames++;
		}
		frame = follow(&trial, frame, at->frame_previous);
	}
	errno = error;
	if (trial.barred)
		return python->guessed ? PYTHON_WRONG : PYTHON_RIGHT;
	if (trial.failed)
		return PYTHON_WRONG;
	return frames ? PYTHON_RIGHT : PYTHON_EMPTY;
}
