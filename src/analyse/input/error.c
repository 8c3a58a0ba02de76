#include "analyse/input/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/grow.h"

static struct {
	char text[1000];
} error;

__attribute__((noreturn)) void (*err_out_of_memory)(void) = abort;

void need_failed(void)
{
	err_out_of_memory();
}

void err_set(const char *format, ...)
{
	char text[sizeof(error.text)]; /* a copy, as arguments may point into error.text */
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	memcpy(error.text, text, sizeof(text));
}

const char *err_text(void)
{
	return error.text;
}
