/* memtrace spool: prints the tables in a spool file, for debugging the library. */
#include <string.h>
#include <strings.h>

#include "analyse/input/error.h"
#include "analyse/spool/read.h"
#include "base/mem/each.h"
#include "cli/cli.h"
#include "ledger/pending.h"
#include "spool/spool.h"

static const char about[] =
	"Prints the header and the tables of a spool as they are in the file: one line per row, "
	"with every field that is not 0; then the blocks that the tables do not count yet "
	"(PENDING) and the old values of the newest update (UNDO). An unfinished update is "
	"undone first.\n";

/* Positions in lists[]: the spool's tables, then two lists from its header. */
enum { SPOOL_PENDING = SPOOL_KINDS, SPOOL_OLD, LISTS };

static const struct {
	const char *name, *what;
} lists[LISTS] = {
#define TABLE(kind, type, shift, what) { #kind, what },
#include "spool/tables.def"
	{ "PENDING", "blocks that the tables do not count yet, oldest first" },
	{ "UNDO", "old values of the newest update, oldest first" },
};

struct field {
	const char *name;
	uint16_t offset;
	uint8_t list, size; /* the field's table, as an index into lists[]; the field's bytes */
	bool negative;      /* true if the field's type is signed */
	char form;          /* 'N' decimal, 'X' hexadecimal, 'T' the id of a text */
};

#define MEMBER(type, member) (((type *)0)->member)
/* __typeof__((0, x)) is x's type without _Atomic. The type is signed if -1, cast to it, is < 1. */
#define FIELD(list, type, member, form)                        \
	{ #member,                                             \
	  offsetof(type, member),                              \
	  list,                                                \
	  sizeof(MEMBER(type, member)),                        \
	  (__typeof__(((void)0, MEMBER(type, member))))-1 < 1, \
	  form },
#define FIELD_OF(row, member, form) FIELD(row, member, form)
#define N(member) FIELD_OF(ROW, member, 'N')
#define X(member) FIELD_OF(ROW, member, 'X')
#define T(member) FIELD_OF(ROW, member, 'T')

static const struct field fields[] = {
	{ "frame", 0, SPOOL_STEP, sizeof(uint32_t), false, 'N' },
	{ "node", 0, SPOOL_BUCKET, sizeof(uint32_t), false, 'N' },
#include "cli/spool_fields.def"
};

#undef FIELD_OF
#undef FIELD
#undef MEMBER
#undef N
#undef X
#undef T

static uint64_t field_value(const struct field *field, const char *row)
{
	unsigned unused = 64 - 8 * field->size;
	uint64_t value = 0;

	memcpy(&value, row + field->offset, field->size);
	return field->negative ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
}

static void print_value(const struct spool *spool, const struct field *field, uint64_t value)
{
	struct out *out = cli_out();

	out_format(out, " %s=", field->name);
	if (field->form == 'X')
		out_format(out, "0x%llx", (unsigned long long)value);
	else
		out_i64(out, (int64_t)value);
	if (field->form == 'T') {
		out_char(out, ':');
		out_json(out, spool_text(spool, (uint32_t)value));
	}
}

/* Prints a row of a table, unless all of its fields are 0: such rows are unused. */
static void print_row(const struct spool *spool, unsigned list, uint64_t index, const void *row)
{
	bool any = false;

	foreach (field, fields, COUNT_OF(fields)) {
		uint64_t value = field->list == list ? field_value(field, row) : 0;

		if (value && !any)
			out_format(cli_out(), "%s %llu:", lists[list].name,
				   (unsigned long long)index);
		if (value)
			print_value(spool, field, value);
		any |= value != 0;
	}
	if (any)
		out_char(cli_out(), '\n');
}

static void print_texts(const struct spool *spool)
{
	uint64_t end = spool_count(spool, SPOOL_TEXT);

	for (uint64_t id = 1; id < end; id++) {
		const char *text = spool_text(spool, (uint32_t)id);

		if (!text[0])
			continue;
		out_format(cli_out(), "TEXT %llu: ", (unsigned long long)id);
		out_json(cli_out(), text);
		out_char(cli_out(), '\n');
		id += strlen(text);
	}
}

static uint64_t count_rows(const struct spool *spool, unsigned list)
{
	const struct spool_header *header = spool->header;
	uint64_t waiting = waiting_count(&header->backlog);

	if (list == SPOOL_HEADER)
		return 1;
	if (list == SPOOL_PENDING)
		return waiting < SPOOL_WAITING ? waiting : SPOOL_WAITING;
	if (list == SPOOL_OLD)
		return header->undo_count < SPOOL_UNDO ? header->undo_count : SPOOL_UNDO;
	return spool_count(spool, list);
}

static const void *row_at(const struct spool *spool, unsigned list, uint64_t index)
{
	if (list == SPOOL_HEADER)
		return spool->header;
	if (list == SPOOL_PENDING)
		return waiting_at(&spool->header->backlog, (unsigned)index);
	if (list == SPOOL_OLD)
		return &spool->header->undo[index];
	return spool_at(spool, list, index);
}

static void print_list(const struct spool *spool, unsigned list)
{
	uint64_t rows = count_rows(spool, list);

	out_format(cli_out(), "# %s, %llu: %s\n", lists[list].name, (unsigned long long)rows,
		   lists[list].what);
	if (list == SPOOL_TEXT)
		print_texts(spool);
	for (uint64_t i = 0; i < rows && list != SPOOL_TEXT; i++)
		print_row(spool, list, i, row_at(spool, list, i));
}

int cmd_spool(int argc, char **argv)
{
	const char *table = NULL;
	const struct arg args[] = {
		ARG("table", 't', TEXT, "NAME", "print only the table NAME", &table),
	};
	const struct usage usage = USAGE("spool", "SPOOL", about, args, 1, 1);
	int parsed = args_parse(&usage, &argc, argv);
	struct spool spool;
	bool found = false;

	if (parsed != ARGS_GO)
		return parsed;
	if (spool_open(&spool, argv[1]))
		return cli_fail(STATUS_UNREADABLE);
	for (unsigned list = 0; list < LISTS; list++) {
		if (table && strcasecmp(table, lists[list].name) != 0)
			continue;
		print_list(&spool, list);
		found = true;
	}
	spool_close(&spool);
	return found ? STATUS_DONE : cli_usage("there is no table %s", table);
}
