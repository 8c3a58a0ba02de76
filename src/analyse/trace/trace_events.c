/*
 * The events of a trace, one by one.
 *
 * Writers put the keys of an event in one order, so each key is first compared with the one that
 * stood there in the event before. Texts of events are few and repeat: they become ids.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/trace/trace.h"
#include "analyse/trace/trace_parts.h"
#include "base/mem/hash.h"
#include "base/text/text.h"

#define KEYS(KEY)      \
	KEY(seq)       \
	KEY(t)         \
	KEY(op)        \
	KEY(device)    \
	KEY(space)     \
	KEY(pool)      \
	KEY(ptr)       \
	KEY(size)      \
	KEY(stack)     \
	KEY(thread)    \
	KEY(stream)    \
	KEY(api)       \
	KEY(error)     \
	KEY(foreign)   \
	KEY(allocated) \
	KEY(reserved)  \
	KEY(name)      \
	KEY(domain)    \
	KEY(range)

enum key {
#define KEY(name) KEY_##name,
	KEYS(KEY)
#undef KEY
		KEY_COUNT
};

static const struct {
	const char *name;
	size_t length;
} keys[] = {
#define KEY(name) { #name, sizeof(#name) - 1 },
	KEYS(KEY)
#undef KEY
};

struct trace_text_slot {
	uint32_t hash, id;
};

/* --- texts --- */

static bool texts_grow(struct trace_texts *texts)
{
	size_t size = texts->slots_n ? texts->slots_n * 2 : 256;
	struct trace_text_slot *slots = calloc(size, sizeof(*slots));
	const char **list = reallocarray(texts->texts, size / 2 + 1, sizeof(*list));

	if (list)
		texts->texts = list;
	if (!slots || !list) {
		free(slots);
		return false;
	}
	for (size_t i = 0; i < texts->slots_n; i++) {
		size_t at = texts->slots[i].hash & (size - 1);

		if (!texts->slots[i].id)
			continue;
		while (slots[at].id)
			at = (at + 1) & (size - 1);
		slots[at] = texts->slots[i];
	}
	free(texts->slots);
	texts->slots = slots;
	texts->slots_n = size;
	return true;
}

uint32_t trace_enter_text(struct trace *trace, const char *text, size_t length)
{
	struct trace_texts *texts = &trace->texts;
	uint32_t hash = (uint32_t)hash_bytes(text, length);
	size_t at;

	if (texts->used * 2 >= texts->slots_n && !texts_grow(texts))
		return 0;
	at = hash & (texts->slots_n - 1);
	for (; texts->slots[at].id; at = (at + 1) & (texts->slots_n - 1)) {
		if (texts->slots[at].hash == hash &&
		    !strcmp(texts->texts[texts->slots[at].id - 1], text))
			return texts->slots[at].id;
	}
	text = arena_text(&trace->arena, text, length);
	if (!text)
		return 0;
	texts->texts[texts->used++] = text;
	texts->slots[at] = (struct trace_text_slot){ hash, (uint32_t)texts->used };
	return (uint32_t)texts->used;
}

const char *trace_text(const struct trace *trace, uint32_t id)
{
	return id && id <= trace->texts.used ? trace->texts.texts[id - 1] : NULL;
}

/* `column` remembers the text that this key had before, which it mostly has again. */
static int read_text(struct trace *trace, enum json_token token, unsigned column, uint32_t *to)
{
	const struct json *json = &trace->reader->json;
	uint32_t last = trace->reader->last_text[column];

	if (token == JSON_NULL)
		return 0;
	if (token != JSON_STRING)
		return json_fail(&trace->reader->json, "a name in an event must be a string");
	if (last && !strcmp(trace->texts.texts[last - 1], json->text)) {
		*to = last;
		return 0;
	}
	*to = trace->reader->last_text[column] = trace_enter_text(trace, json->text, json->length);
	return *to ? 0 : json_fail(&trace->reader->json, "no memory left");
}

/* --- values --- */

static int read_number(struct trace *trace, enum json_token token, uint64_t *to)
{
	struct json *json = &trace->reader->json;

	if (token == JSON_NUMBER && json->exact && !json->negative) {
		*to = json->magnitude;
		return 0;
	}
	return token == JSON_NULL
		       ? 0
		       : json_fail(json, "a number in an event must be whole and not negative");
}

static int read_address(struct trace *trace, enum json_token token, uint64_t *to)
{
	struct json *json = &trace->reader->json;
	uint64_t value = 0;

	if (token == JSON_NULL)
		return 0;
	if (token != JSON_STRING || json->length < 3 || json->length > 18 || json->text[0] != '0' ||
	    json->text[1] != 'x')
		return json_fail(json, "an address in an event must be a string \"0x...\"");
	for (const char *p = json->text + 2; *p; p++) {
		unsigned digit = (unsigned)*p - '0';

		if (digit > 9) {
			digit = ((unsigned)*p | 0x20) - 'a' + 10;
			if (digit < 10 || digit > 15)
				return json_fail(json,
						 "an address in an event must be hexadecimal");
		}
		value = value << 4 | digit;
	}
	*to = value;
	return 0;
}

static int read_stack(struct trace *trace, enum json_token token, uint32_t *to)
{
	uint64_t stack = TRACE_NONE;

	if (read_number(trace, token, &stack))
		return -EINVAL;
	if (stack != TRACE_NONE && stack >= trace->stacks_n)
		return json_fail(&trace->reader->json,
				 "an event refers to stacks[%llu], but there are %zu",
				 (unsigned long long)stack, trace->stacks_n);
	*to = (uint32_t)stack;
	return 0;
}

static int read_device(struct trace *trace, enum json_token token, int16_t *to)
{
	const struct json *json = &trace->reader->json;

	if (token == JSON_NULL)
		return 0;
	if (token != JSON_NUMBER || !json->exact || json->magnitude > INT16_MAX)
		return json_fail(&trace->reader->json,
				 "\"device\" in an event must be a small whole number");
	*to = (int16_t)(json->negative ? -(int)json->magnitude : (int)json->magnitude);
	return 0;
}

static int read_op(struct trace *trace, enum json_token token, uint8_t *to)
{
	if (token != JSON_STRING)
		return json_fail(&trace->reader->json, "\"op\" in an event must be a string");
	for (*to = 0; *to < EVENT_OPS; ++*to) {
		if (!strcmp(event_op_name(*to), trace->reader->json.text))
			break;
	}
	return 0;
}

static int read_space(struct trace *trace, enum json_token token, uint8_t *to)
{
	if (token != JSON_STRING)
		return json_fail(&trace->reader->json, "\"space\" in an event must be a string");
	for (*to = 0; *to < SPACES; ++*to) {
		if (!strcmp(space_name(*to), trace->reader->json.text))
			break;
	}
	return 0;
}

static int read_value(struct trace *trace, enum key key, struct trace_event *event)
{
	enum json_token token = json_next(&trace->reader->json);

	switch (key) {
	case KEY_seq:
		return read_number(trace, token, &event->seq);
	case KEY_t:
		return read_number(trace, token, &event->t);
	case KEY_op:
		return read_op(trace, token, &event->op);
	case KEY_device:
		return read_device(trace, token, &event->device);
	case KEY_space:
		return read_space(trace, token, &event->space);
	case KEY_pool:
		return read_text(trace, token, 0, &event->pool);
	case KEY_ptr:
		return read_address(trace, token, &event->ptr);
	case KEY_size:
		return read_number(trace, token, &event->size);
	case KEY_stack:
		return read_stack(trace, token, &event->stack);
	case KEY_thread:
		return read_number(trace, token, &event->thread);
	case KEY_stream:
		return read_address(trace, token, &event->stream);
	case KEY_api:
		return read_text(trace, token, 1, &event->api);
	case KEY_error:
		return read_text(trace, token, 2, &event->error);
	case KEY_foreign:
		event->foreign = token == JSON_TRUE;
		return json_skip(&trace->reader->json, token);
	case KEY_allocated:
		return read_number(trace, token, &event->allocated);
	case KEY_reserved:
		return read_number(trace, token, &event->reserved);
	case KEY_name:
		return read_text(trace, token, 3, &event->name);
	case KEY_domain:
		return read_text(trace, token, 4, &event->domain);
	case KEY_range:
		return read_number(trace, token, &event->range);
	case KEY_COUNT:
		break;
	}
	return json_skip(&trace->reader->json, token);
}

/* --- events --- */

static enum key key_at(struct trace *trace, unsigned position)
{
	uint8_t *guess = &trace->reader->order[position % sizeof(trace->reader->order)];
	unsigned key = *guess;

	if (key < KEY_COUNT && json_is(&trace->reader->json, keys[key].name, keys[key].length))
		return key;
	for (key = 0; key < KEY_COUNT; key++) {
		if (json_is(&trace->reader->json, keys[key].name, keys[key].length))
			break;
	}
	*guess = (uint8_t)key;
	return key;
}

static const struct trace_event empty = {
	.allocated = TRACE_NONE,
	.reserved = TRACE_NONE,
	.stack = UINT32_MAX,
	.device = NO_DEVICE,
	.op = EVENT_OPS,
	.space = SPACES,
};

static int read_event(struct trace *trace, struct trace_event *event)
{
	enum json_token token;

	for (unsigned i = 0; (token = json_next(&trace->reader->json)) == JSON_KEY; i++) {
		if (read_value(trace, key_at(trace, i), event))
			return -EINVAL;
	}
	return token == JSON_OBJECT_END ? 0 : -EINVAL;
}

/* Behind the events: reads the document to its end. */
static int finish(struct trace *trace)
{
	enum json_token token;

	trace->reader->in_events = false;
	while ((token = json_next(&trace->reader->json)) == JSON_KEY) {
		if (json_skip(&trace->reader->json, json_next(&trace->reader->json)))
			return trace_broken(trace);
	}
	if (token == JSON_OBJECT_END)
		token = json_next(&trace->reader->json);
	return token == JSON_END ? 0 : trace_broken(trace);
}

/* To the opening brace of the next event: 1, 0 at the end, or -EINVAL. */
static int next_event(struct trace *trace)
{
	enum json_token token;

	if (trace->reader->json.failed)
		return -EINVAL;
	if (!trace->reader->in_events)
		return 0;
	token = json_next(&trace->reader->json);
	if (token == JSON_OBJECT)
		return 1;
	if (token == JSON_ARRAY_END)
		return finish(trace);
	if (token != JSON_ERROR)
		json_fail(&trace->reader->json, "an event must be an object");
	return trace_broken(trace);
}

int trace_next(struct trace *trace, struct trace_event *event)
{
	int more;

	*event = empty;
	if (trace->reader->from)
		return trace_spool_next(trace, event, NULL);
	more = next_event(trace);
	if (more == 1 && read_event(trace, event))
		return trace_broken(trace);
	return more;
}

int trace_next_of(struct trace *trace, enum event_op op, struct trace_event *event)
{
	char text[32];

	text_join(text, sizeof(text), "\"op\":\"", event_op_name(op));
	text_append(text, sizeof(text), "\"");
	for (;;) {
		int more;

		if (!trace->reader->in_events)
			return 0;
		if (!trace->reader->from && !json_find_line(&trace->reader->json, text))
			return trace->reader->json.failed ? trace_broken(trace) : 0;
		more = trace_next(trace, event);
		if (more != 1 || event->op == op)
			return more;
	}
}

int trace_copy(struct trace *trace, struct out *out)
{
	int more;

	if (trace->reader->from)
		return trace_spool_next(trace, NULL, out);
	more = next_event(trace);
	if (more == 1 && json_copy(&trace->reader->json, JSON_OBJECT, out))
		return trace_broken(trace);
	return more;
}
