/* What went wrong, said once. */
#include "analyse/input/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct {
	char text[1000];
} error;

int err(const char *format, ...)
{
	char text[sizeof(error.text)]; /* the arguments may hold the text before */
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	memcpy(error.text, text, sizeof(text));
	return -EINVAL;
}

int err_no_memory(const char *path)
{
	return err("%s: no memory left", path);
}

const char *err_text(void)
{
	return error.text;
}
