/* Writes a SQLite database to a temporary file: SQLite rewrites pages, which a pipe cannot do. */
#ifdef HAVE_SQLITE

#include "render/export/sqlite_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse/input/error.h"
#include "analyse/trace/trace.h"
#include "base/text/out.h"
#include "base/text/text.h"

/* The tables. Each column in `columns` begins with ", ". */
static const struct {
	const char *name, *what, *columns;
} tables[] = {
#define TABLE(name, what, type) \
	{                       \
#name, what, ""
#define INTEGER(name, value, ...) ", " #name " INTEGER" __VA_ARGS__
#define POSITION(name, value) ", " #name " INTEGER"
#define TEXT(name, value, ...) ", " #name " TEXT" __VA_ARGS__
#define NUMERIC(name, text) ", " #name " NUMERIC"
#define ANY(name, text, number) ", " #name
#define KEYS(...) ", PRIMARY KEY (" #__VA_ARGS__ ")"
#define END \
	}   \
	,
#include "render/export/sqlite_schema.def"
};

static void broken(struct sqlite_file *file)
{
	if (!file->error)
		file->error = err("%s: %s", file->path, sqlite3_errmsg(file->db));
}

static void run_sql(struct sqlite_file *file, const char *sql)
{
	if (!file->error && sqlite3_exec(file->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		broken(file);
}

/* Creates a table and prepares its INSERT, which ignores a row whose key already exists. */
static void make_table(struct sqlite_file *file, enum sqlite_table table)
{
	sqlite3_stmt *columns = NULL;
	char sql[1000];

	snprintf(sql, sizeof(sql), "CREATE TABLE %s /* %s */ (%s)", tables[table].name,
		 tables[table].what, tables[table].columns + strlen(", "));
	run_sql(file, sql);
	snprintf(sql, sizeof(sql), "SELECT * FROM %s", tables[table].name);
	if (!file->error && sqlite3_prepare_v2(file->db, sql, -1, &columns, NULL) != SQLITE_OK)
		broken(file);
	snprintf(sql, sizeof(sql), "INSERT OR IGNORE INTO %s VALUES (?", tables[table].name);
	for (int i = 1; i < sqlite3_column_count(columns); i++)
		text_append(sql, sizeof(sql), ",?");
	text_append(sql, sizeof(sql), ")");
	sqlite3_finalize(columns);
	if (!file->error &&
	    sqlite3_prepare_v2(file->db, sql, -1, &file->inserts[table], NULL) != SQLITE_OK)
		broken(file);
}

int sqlite_file_open(struct sqlite_file *file)
{
	const char *folder = getenv("TMPDIR");
	int fd;

	*file = (struct sqlite_file){ .db = NULL };
	if (snprintf(file->path, sizeof(file->path), "%s/memtrace.XXXXXX",
		     folder && *folder ? folder : "/tmp") >= (int)sizeof(file->path) ||
	    (fd = mkostemp(file->path, O_CLOEXEC)) < 0) {
		int error = errno;

		text_copy(file->path, sizeof(file->path), "");
		return err("cannot create a temporary file: %s (set TMPDIR to a writable folder)",
			   strerror(error));
	}
	close(fd);
	if (sqlite3_open_v2(file->path, &file->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
		broken(file);
	/* No journal is needed: only this process uses the file, and deletes it after an error. */
	run_sql(file,
		"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE");
	run_sql(file, "BEGIN");
	for (int i = 0; i < TABLES; i++)
		make_table(file, (enum sqlite_table)i);
	return file->error;
}

static void end_row(struct sqlite_file *file)
{
	if (file->error || !file->row)
		return;
	if (sqlite3_step(file->row) != SQLITE_DONE)
		broken(file);
	sqlite3_reset(file->row);
	sqlite3_clear_bindings(file->row);
}

void sqlite_row(struct sqlite_file *file, enum sqlite_table table)
{
	end_row(file);
	file->row = file->inserts[table];
	file->column = 0;
}

void sqlite_u64(struct sqlite_file *file, uint64_t value)
{
	int column = ++file->column;

	/* SQLite's integers end at 2^63 - 1: larger values such as TRACE_NONE become NULL. */
	if (value <= INT64_MAX && !file->error)
		sqlite3_bind_int64(file->row, column, (sqlite3_int64)value);
}

void sqlite_text(struct sqlite_file *file, const char *text)
{
	int column = ++file->column;

	if (text && !file->error)
		sqlite3_bind_text(file->row, column, text, -1, SQLITE_TRANSIENT);
}

static void close_database(struct sqlite_file *file)
{
	for (int i = 0; i < TABLES; i++) {
		sqlite3_finalize(file->inserts[i]);
		file->inserts[i] = NULL;
	}
	if (sqlite3_close(file->db) != SQLITE_OK)
		broken(file);
	file->db = NULL;
}

int sqlite_file_copy(struct sqlite_file *file, struct out *out)
{
	static char bytes[1 << 16];
	ssize_t count = 0;
	int fd;

	end_row(file);
	run_sql(file, "CREATE INDEX events_t ON events (t)");
	run_sql(file, "CREATE INDEX allocations_stack ON allocations (stack)");
	run_sql(file, "CREATE INDEX peak_stacks_peak ON peak_stacks (peak)");
	run_sql(file, "CREATE INDEX stack_frames_frame ON stack_frames (frame)");
	run_sql(file, "COMMIT");
	close_database(file);
	if (file->error)
		return file->error;
	fd = open(file->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err("%s: %s", file->path, strerror(errno));
	while (!out->error && (count = read(fd, bytes, sizeof(bytes))) > 0)
		out_bytes(out, bytes, (size_t)count);
	if (count < 0)
		file->error = err("%s: %s", file->path, strerror(errno));
	close(fd);
	return file->error;
}

void sqlite_file_clear(struct sqlite_file *file)
{
	if (file->db)
		close_database(file);
	if (file->path[0])
		unlink(file->path);
	*file = (struct sqlite_file){ .db = NULL };
}

#else

/* ISO C forbids a source file without a declaration. */
typedef int sqlite_is_missing;

#endif
