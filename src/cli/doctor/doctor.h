/* memtrace doctor: a line for each finding, and how to mend it. */
#pragma once

enum finding {
	FINDING_OK,
	FINDING_NOTE,    /* not needed, or only sometimes */
	FINDING_WARN,    /* recording works, but worse than it could */
	FINDING_MISSING, /* nothing can be recorded like this */
};

/* Prints a finding about `what`, as printf does, and how to mend it unless `mend` is NULL. */
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
