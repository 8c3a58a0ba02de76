/* The signal that the user chose, and what it does. */
#include "base/settings/signal_choice.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "base/guest/table_rows.h"

static const struct {
	char name[8];
	int signal;
} names[] = {
#define SIGNAL_NAME(name) { WHOLE(#name), SIG##name },
#include "base/settings/signal_names.def"
#undef SIGNAL_NAME
};

static const char deeds[][8] = {
	[SIGNAL_TOGGLES] = "toggle", [SIGNAL_MARKS] = "mark", [SIGNAL_DUMPS] = "dump"
};

static bool parse_deed(const char *text, enum signal_does *does)
{
	for (size_t i = 0; i < sizeof(deeds) / sizeof(deeds[0]); i++) {
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
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i].name) == length && !strncmp(names[i].name, text, length))
			choice->signal = names[i].signal;
	}
	return choice->signal != 0;
}
