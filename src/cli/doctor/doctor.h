/* memtrace doctor: the checks of this machine, each of which prints its findings. */
#pragma once

enum finding {
	FINDING_OK,
	FINDING_NOTE,    /* for information: nothing has to be done */
	FINDING_WARN,    /* the user should check it: recording may be slow, incomplete or off */
	FINDING_MISSING, /* nothing can be recorded until this is fixed */
};

/* Prints a finding on `what`, formatted as by printf, and the remedy `mend` unless it is NULL. */
void doctor_say(enum finding finding, const char *what, const char *mend, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

void doctor_built(void);
void doctor_library(void);
void doctor_cuda(void);
void doctor_pythons(void);
void doctor_settings(void);
void doctor_output(void);
void doctor_compression(void);
void doctor_program(const char *name);
