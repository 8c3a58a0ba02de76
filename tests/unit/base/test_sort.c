/* Sorting: like qsort(), but stable and without the heap. */
#include "check.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "analyse/compare/metrics.h"
#include "base/mem/sort.h"

struct sorted {
	uint32_t key, place;
	uint64_t rest; /* what must come along */
};

static const struct sort_key by_key[] = { SORT_UP(struct sorted, key), { 0 } };

static void sorts(size_t count, uint32_t keys)
{
	struct sorted *rows = calloc(count + 1, sizeof(*rows));
	uint64_t state = count * 31 + keys;

	OK(rows);
	for (size_t i = 0; rows && i < count; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		rows[i] = (struct sorted){ (uint32_t)(state >> 33) % keys, (uint32_t)i, 0 };
		rows[i].rest = rows[i].key * 7919u + rows[i].place;
	}
	if (rows)
		rows[count] = (struct sorted){ 0, 0, 12345 };
	sort_rows(rows, count, sizeof(*rows), by_key);
	for (size_t i = 0; rows && i < count; i++) {
		EQ(rows[i].rest, rows[i].key * 7919u + rows[i].place);
		OK(!i || rows[i - 1].key < rows[i].key ||
		   (rows[i - 1].key == rows[i].key && rows[i - 1].place < rows[i].place));
	}
	EQ(rows ? rows[count].rest : 0, 12345);
	free(rows);
}

TEST(every_length_and_equal_rows_in_their_order)
{
	for (size_t count = 0; count < 140; count++) {
		sorts(count, 1);
		sorts(count, 5);
		sorts(count, UINT32_MAX);
	}
	sorts(4096, 300);
	sorts(4097, 1u << 30);
	sorts(65535, 1000);
}

TEST(without_memory_too)
{
	struct rlimit before;
	struct rlimit none = { 0, 0 };
	struct sorted rows[200];

	for (uint32_t i = 0; i < 200; i++)
		rows[i] = (struct sorted){ i * 37 % 50, i, i };
	OK(!getrlimit(RLIMIT_AS, &before));
	none.rlim_max = before.rlim_max;
	OK(!setrlimit(RLIMIT_AS, &none));
	sort_rows(rows, 200, sizeof(*rows), by_key);
	OK(!setrlimit(RLIMIT_AS, &before));
	for (uint32_t i = 1; i < 200; i++)
		OK(rows[i - 1].key < rows[i].key ||
		   (rows[i - 1].key == rows[i].key && rows[i - 1].place < rows[i].place));
}

TEST(medians)
{
	int64_t odd[] = { 9, 1, 5 };
	int64_t even[] = { 4, 1, 9, 5 };

	EQ(median_of(odd, 3), 5);
	EQ(median_of(even, 4), 4);
	EQ(median_of(even, 0), 0);
}
