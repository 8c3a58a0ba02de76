/* Writes a SQLite database, with the tables of sqlite_schema.def, row by row. */
#pragma once

#include <stdint.h>

struct out;
struct sqlite3;
struct sqlite3_stmt;

enum sqlite_table {
#define TABLE(name, what, type) TABLE_##name,
#include "render/export/sqlite_schema.def"
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

/* Functions of type int return 0, or -errno with err_text(). After an error, all functions but
 * sqlite_file_clear() do nothing. */
int sqlite_file_open(struct sqlite_file *file);

/* Ends the current row and begins another. The calls below fill its columns in order; columns that
 * they do not fill are NULL. */
void sqlite_row(struct sqlite_file *file, enum sqlite_table table);
void sqlite_u64(struct sqlite_file *file, uint64_t value); /* NULL above INT64_MAX */
void sqlite_text(struct sqlite_file *file, const char *text);

/* Ends the last row, closes the database and copies the file's bytes to `out`. */
int sqlite_file_copy(struct sqlite_file *file, struct out *out);

/* Closes the database if it is open, and deletes the temporary file. */
void sqlite_file_clear(struct sqlite_file *file);
