/* Reads the settings from the environment variables that opt.def lists. */
#include "base/settings/opt.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/guest/start.h"
#include "base/guest/table_rows.h"
#include "base/mem/each.h"
#include "base/settings/filter.h"
#include "base/settings/quantity.h"
#include "base/text/text.h"

START_CONST const struct opt_row opt_rows[OPT_IDS] = {
#define OPTION(name, env, kind, value, help) { WHOLE(#name), WHOLE(env), WHOLE(value), OPT_##kind },
#include "base/settings/opt.def"
};

static START_DATA struct {
	const char *text[OPT_IDS];
	uint64_t count[OPT_IDS];
	const char *trouble;
} opt;

/* Copies of the settings' texts, because a program that sets its process title overwrites the
 * environment. `near` is filled first: it lies in a page that is written at start anyway. */
static START_DATA char near[160];
static START_DATA uint32_t near_used;
static char far[3 * 4096];
static START_DATA uint32_t far_used;

START_CODE static bool parse_flag(const char *text, uint64_t *count)
{
	static START_CONST const char yes[][5] = { "1", "on", "yes", "true" };
	static START_CONST const char no[][6] = { "0", "off", "no", "false" };

	for (size_t i = 0; i < COUNT_OF(yes); i++) {
		bool is_yes = start_same(text, yes[i]);

		if (is_yes || start_same(text, no[i])) {
			*count = is_yes;
			return true;
		}
	}
	return false;
}

START_CODE static bool parse_stacks(const char *text, uint64_t *kinds)
{
	static START_CONST const char words[][7] = {
		[0] = "none",
		[STACKS_NATIVE] = "native",
		[STACKS_PYTHON] = "python",
		[STACKS_NATIVE | STACKS_PYTHON] = "all",
	};

	for (;;) {
		const char *after = NULL;
		uint64_t kind = COUNT_OF(words);

		while (!after && kind--)
			after = start_after(text, words[kind]);
		if (!after || (*after && *after != ','))
			return false;
		*kinds |= kind;
		if (!*after)
			return true;
		text = after + 1;
	}
}

/* Parses a number above 0 and a unit (s, min, h, d), without blanks, into ns. */
static bool parse_time(const char *text, uint64_t *ns)
{
	return !strchr(text, ' ') && quantity_parse(text, QUANTITY_AGE, ns) && *ns;
}

/* Parses a number of bytes with a unit. Refuses units with a small m: "10m" might mean minutes. */
static bool parse_bytes(const char *text, uint64_t *bytes)
{
	const char *unit = text + strspn(text, "0123456789");

	return *unit && *unit != 'm' && quantity_parse(text, QUANTITY_SETTING, bytes) && *bytes;
}

int opt_parse_keep(const char *text, uint64_t *ns, uint64_t *bytes)
{
	char part[32];
	size_t length;

	*ns = *bytes = 0;
	for (;; text += length + 1) {
		length = strcspn(text, ",");
		if (length >= sizeof(part))
			return -EINVAL;
		text_copy_n(part, sizeof(part), text, length);
		if ((*ns || !parse_time(part, ns)) && (*bytes || !parse_bytes(part, bytes)))
			return -EINVAL;
		if (!text[length])
			return 0;
	}
}

/* Signals that a user may choose. Without a handler, each is ignored or ends the process. */
static const struct {
	char name[8];
	int signal;
} signals[] = {
	{ "USR1", SIGUSR1 }, { "USR2", SIGUSR2 },   { "HUP", SIGHUP },
	{ "URG", SIGURG },   { "WINCH", SIGWINCH }, { "PWR", SIGPWR },
};

static const char deeds[][8] = {
	[SIGNAL_TOGGLES] = "toggle", [SIGNAL_MARKS] = "mark", [SIGNAL_DUMPS] = "dump"
};

static bool parse_deed(const char *text, enum signal_does *does)
{
	for (size_t i = 0; i < COUNT_OF(deeds); i++) {
		if (!strcmp(text, deeds[i])) {
			*does = (enum signal_does)i;
			return true;
		}
	}
	return false;
}

bool signal_choice_parse(const char *text, struct signal_choice *choice)
{
	size_t length;

	*choice = (struct signal_choice){ 0, SIGNAL_TOGGLES };
	if (!*text)
		return true;
	if (!strncmp(text, "SIG", 3))
		text += 3;
	length = strcspn(text, ":");
	if (text[length] && !parse_deed(text + length + 1, &choice->does))
		return false;
	for (size_t i = 0; i < COUNT_OF(signals); i++) {
		if (strlen(signals[i].name) == length && !strncmp(signals[i].name, text, length))
			choice->signal = signals[i].signal;
	}
	return choice->signal != 0;
}

START_CODE bool opt_parse(enum opt_id id, const char *value, uint64_t *count)
{
	struct signal_choice choice;
	struct filter filter;
	uint64_t ns, bytes;

	*count = 0;
	switch (opt_rows[id].kind) {
	case OPT_FLAG:
		return parse_flag(value, count);
	case OPT_COUNT:
		return quantity_parse(value, QUANTITY_SETTING, count);
	case OPT_STACKS:
		return parse_stacks(value, count);
	case OPT_DEPTH:
		return quantity_parse(value, QUANTITY_SETTING, count) && *count &&
		       *count <= OPT_DEPTH_MAX;
	case OPT_KEEP:
		return !*value || !opt_parse_keep(value, &ns, &bytes);
	case OPT_SIGNAL:
		return !*value || signal_choice_parse(value, &choice);
	case OPT_FILTER:
		return !*value || filter_parse(value, &filter);
	case OPT_TEXT:
		break;
	}
	return true;
}

/* Reads the environment only once, as it may have hundreds of variables that are no settings. */
START_CODE static void find_values(const char *values[OPT_IDS])
{
	static START_CONST const char prefix[] = "MEMTRACE_";

	for (char **variable = environ; variable && *variable; variable++) {
		const char *name = start_after(*variable, prefix);

		for (enum opt_id id = 0; name && id < OPT_IDS; id++) {
			if (!values[id])
				values[id] = text_value(name, opt_rows[id].env);
		}
	}
}

/* Copies a setting's value. NULL if there is no room; opt_read() then uses the default. */
START_CODE static const char *keep_text(const char *value)
{
	size_t size = start_length(value) + 1;
	bool fits = size <= sizeof(near) - near_used;
	char *to = fits ? near + near_used : far + far_used;

	if (!fits && size > sizeof(far) - far_used)
		return NULL;
	*(fits ? &near_used : &far_used) += (uint32_t)size;
	start_append(to, size, 0, value);
	return to;
}

START_CODE void opt_read(void)
{
	const char *values[OPT_IDS] = { NULL };

	find_values(values);
	for (enum opt_id id = 0; id < OPT_IDS; id++) {
		const char *value = values[id] && *values[id] ? values[id] : NULL;

		opt.text[id] =
			value && opt_parse(id, value, &opt.count[id]) ? keep_text(value) : NULL;
		if (opt.text[id])
			continue;
		if (value && !opt.trouble)
			opt.trouble = opt_rows[id].env;
		opt.text[id] = opt_rows[id].value;
		opt_parse(id, opt_rows[id].value, &opt.count[id]);
	}
}

START_CODE const char *opt_text(enum opt_id id)
{
	return opt.text[id] ? opt.text[id] : opt_rows[id].value;
}

START_CODE bool opt_flag(enum opt_id id)
{
	return opt.count[id] != 0;
}

START_CODE bool opt_given(enum opt_id id)
{
	return !start_same(opt_text(id), opt_rows[id].value);
}

START_CODE uint64_t opt_count(enum opt_id id)
{
	return opt.count[id];
}

const char *opt_trouble(void)
{
	return opt.trouble;
}
