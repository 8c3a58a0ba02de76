/* Fills a SQLite database row by row, with the tables of sqlite_schema.def. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct out;
struct sqlite3;
struct sqlite3_stmt;

enum sqlite_table {
#define TABLE(name, columns, what) TABLE_##name,
#include "render/export/sqlite_schema.def"
#undef TABLE
	TABLES
};

struct sqlite_file {
	char path[512]; /* the temporary file, "" if there is none */
	struct sqlite3 *db;
	struct sqlite3_stmt *inserts[TABLES];
	struct sqlite3_stmt *row; /* the INSERT of the current row */
	int column;
	int error; /* -errno of the first error, whose message is in err_text() */
};

/* Functions return 0 or -errno with err_text(). After an error, further calls have no effect. */
int sqlite_file_open(struct sqlite_file *file);

/* Ends the current row and begins another. Its columns follow in order; missing ones are NULL. */
void sqlite_row(struct sqlite_file *file, enum sqlite_table table);
void sqlite_u64(struct sqlite_file *file, uint64_t value); /* TRACE_NONE is written as NULL */
void sqlite_device(struct sqlite_file *file, int device);  /* NO_DEVICE is written as NULL */
void sqlite_number(struct sqlite_file *file, uint32_t id); /* UINT32_MAX is written as NULL */
void sqlite_text(struct sqlite_file *file, const char *text);

/* Write an array of values into consecutive columns. */
void sqlite_numbers(struct sqlite_file *file, const uint64_t *values, size_t count);
void sqlite_texts(struct sqlite_file *file, const char *const *texts, size_t count);

#define SQLITE_NUMBERS(file, ...)                               \
	sqlite_numbers(file, (const uint64_t[]){ __VA_ARGS__ }, \
		       sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))
#define SQLITE_TEXTS(file, ...)                                  \
	sqlite_texts(file, (const char *const[]){ __VA_ARGS__ }, \
		     sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

/* Ends the last row, closes the database and copies the file's bytes to `out`. */
int sqlite_file_copy(struct sqlite_file *file, struct out *out);

/* Closes the database if it is open, and deletes the temporary file. */
void sqlite_file_clear(struct sqlite_file *file);
