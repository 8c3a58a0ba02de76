/*
 * Reads the events of a trace one by one.
 *
 * Writers put the keys of events in one order, so each key is first compared with the key at the
 * same position in the last event. The texts of events are few, so each gets an id.
 */
#include <errno.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/input/grow.h"
#include "analyse/trace/trace.h"
#include "analyse/trace/trace_parts.h"
#include "base/text/text.h"

enum value { NUMBER, ADDRESS, NAME, DEVICE, STACK, THREAD, OP, SPACE, FOREIGN };

struct key {
	const char *name, *text; /* text: the name as in JSON, `,"name":` */
	uint8_t length, value, at;
};

static const struct key keys[] = {
#define KEY(name, value, member)                                                                \
	{                                                                                       \
		name, ",\"" name "\":", sizeof(name) - 1, value, offsetof(struct event, member) \
	}
	KEY("seq", NUMBER, seq),
	KEY("t", NUMBER, t),
	KEY("op", OP, op),
	KEY("device", DEVICE, device),
	KEY("space", SPACE, space),
	KEY("pool", NAME, pool),
	KEY("ptr", ADDRESS, ptr),
	KEY("size", NUMBER, size),
	KEY("stack", STACK, stack),
	KEY("thread", THREAD, thread),
	KEY("stream", ADDRESS, stream),
	KEY("api", NAME, api),
	KEY("error", NAME, error),
	KEY("foreign", FOREIGN, flags),
	KEY("reserved", NUMBER, reserved),
	KEY("allocated", NUMBER, allocated),
	KEY("name", NAME, name),
#undef KEY
};

enum { KEYS = COUNT_OF(keys) };

/* --- texts --- */

uint32_t trace_enter_text(struct trace *trace, const char *text, size_t length)
{
	uint32_t id = texts_enter(&trace->reader->texts, &trace->arena, text, length);

	NEED(id);
	return id;
}

const char *trace_text(const struct trace *trace, uint32_t id)
{
	size_t count;
	const char **texts = trace_texts(trace, &count);

	return id && id <= count ? texts[id - 1] : NULL;
}

const char **trace_texts(const struct trace *trace, size_t *count)
{
	*count = trace->reader ? trace->reader->texts.count : 0;
	return trace->reader ? trace->reader->texts.list : NULL;
}

/* `last` is the id of the text that this key had last, which most events repeat. */
static int read_text(struct trace *trace, enum json_token token, uint32_t *last, uint32_t *to)
{
	struct json *json = &trace->reader->json;

	if (token == JSON_NULL)
		return 0;
	if (token != JSON_STRING)
		return json_fail(json, "a name in an event must be a JSON string");
	if (!*last || strcmp(trace_text(trace, *last), json->text) != 0)
		*last = trace_enter_text(trace, json->text, json->length);
	*to = *last;
	return 0;
}

/* --- values --- */

static int event_number(struct trace *trace, enum json_token token, uint64_t *to)
{
	struct json *json = &trace->reader->json;

	if (token == JSON_NUMBER && json->exact && !json->negative) {
		*to = json->magnitude;
		return 0;
	}
	return token == JSON_NULL
		       ? 0
		       : json_fail(json, "a number in an event must be a non-negative integer");
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

	if (event_number(trace, token, &stack))
		return -EINVAL;
	if (stack != TRACE_NONE && stack >= trace->stacks_n)
		return json_fail(&trace->reader->json,
				 "an event refers to stacks[%llu], but there are only %zu stacks",
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
				 "\"device\" in an event must be an integer from -32767 to 32767");
	*to = (int16_t)(json->negative ? -(int)json->magnitude : (int)json->magnitude);
	return 0;
}

/* Reads a word: sets *to to the n for which name(n) is the word, or to `count` if there is none. */
static int read_word(struct trace *trace, enum json_token token, const char *key,
		     const char *(*name)(unsigned), unsigned count, uint8_t *to)
{
	if (token != JSON_STRING)
		return json_fail(&trace->reader->json, "\"%s\" in an event must be a string", key);
	for (*to = 0; *to < count; ++*to) {
		if (!strcmp(name(*to), trace->reader->json.text))
			break;
	}
	return 0;
}

static int read_thread(struct trace *trace, enum json_token token, uint32_t *to)
{
	uint64_t thread = 0;
	int error = event_number(trace, token, &thread);

	*to = (uint32_t)thread;
	return error;
}

static int read_value(struct trace *trace, unsigned number, struct event *event)
{
	enum json_token token = json_next(&trace->reader->json);
	const struct key *key;
	void *to;

	if (number == KEYS)
		return json_skip(&trace->reader->json, token);
	key = &keys[number];
	to = (char *)event + key->at;
	switch ((enum value)key->value) {
	case NUMBER:
		return event_number(trace, token, to);
	case ADDRESS:
		return read_address(trace, token, to);
	case NAME:
		return read_text(trace, token, &trace->reader->last_text[number], to);
	case DEVICE:
		return read_device(trace, token, to);
	case STACK:
		return read_stack(trace, token, to);
	case THREAD:
		return read_thread(trace, token, to);
	case OP:
		return read_word(trace, token, key->name, event_op_name, EVENT_OPS, to);
	case SPACE:
		return read_word(trace, token, key->name, space_name, SPACES, to);
	case FOREIGN:
		event->flags = token == JSON_TRUE ? EVENT_FOREIGN : 0;
		break;
	}
	return json_skip(&trace->reader->json, token);
}

/* --- events --- */

/* Returns the position in keys[] of the key just read, KEYS if it is not there. */
static unsigned find_key(const struct json *json)
{
	unsigned key = 0;

	while (key < KEYS && !json_is(json, keys[key].name, keys[key].length))
		key++;
	return key;
}

const struct event trace_no_event = {
	.allocated = TRACE_NONE,
	.reserved = TRACE_NONE,
	.stack = UINT32_MAX,
	.device = NO_DEVICE,
	.op = EVENT_OPS,
	.space = SPACES,
};

static int read_event(struct trace *trace, struct event *event)
{
	struct json *json = &trace->reader->json;

	for (unsigned i = 0;; i++) {
		uint8_t *guess = &trace->reader->order[i % sizeof(trace->reader->order)];
		const struct key *key = *guess < KEYS ? &keys[*guess] : NULL;

		if (!key || !json_take_key(json, key->text, key->length + 4u)) {
			enum json_token token = json_next(json);

			if (token != JSON_KEY)
				return token == JSON_OBJECT_END ? 0 : -EINVAL;
			*guess = (uint8_t)find_key(json);
		}
		if (read_value(trace, *guess, event))
			return -EINVAL;
	}
}

/* Reads the rest of the JSON after the events. Returns 0 or -EINVAL. */
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

/* Reads the opening brace of the next event. Returns 1, 0 after the last event, or -EINVAL. */
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

int trace_next(struct trace *trace, struct event *event)
{
	int more;

	*event = trace_no_event;
	if (trace->reader->from)
		return trace_spool_next(trace, event, NULL);
	more = next_event(trace);
	if (more == 1 && read_event(trace, event))
		return trace_broken(trace);
	return more;
}

int trace_next_of(struct trace *trace, enum event_op op, struct event *event)
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
