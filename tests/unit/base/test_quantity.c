/* Sizes and times as people type them. */
#include "check.h"

#include "base/settings/quantity.h"

TEST(quantities)
{
	static const struct {
		const char *text;
		enum quantity_kind kind;
		uint64_t value;
	} rows[] = {
		{ "0", QUANTITY_SIZE, 0 },
		{ "12", QUANTITY_SIZE, 12 },
		{ "12B", QUANTITY_SIZE, 12 },
		{ "1 KiB", QUANTITY_SIZE, 1024 },
		{ "1kib", QUANTITY_SIZE, 1024 },
		{ "1KB", QUANTITY_SIZE, 1000 },
		{ "1KB", QUANTITY_SETTING, 1024 },
		{ "8M", QUANTITY_SETTING, 8 << 20 },
		{ "1.5GiB", QUANTITY_SETTING, 3ull << 29 },
		{ "0.5 MiB", QUANTITY_SIZE, 524288 },
		{ "0.3GiB", QUANTITY_SIZE, 322122547 },
		{ "2GB", QUANTITY_SIZE, 2000000000 },
		{ "1TiB", QUANTITY_SIZE, 1ull << 40 },
		{ "3 \tMB", QUANTITY_SIZE, 3000000 },
		{ "2.5", QUANTITY_NUMBER, 2 },
		{ "7d", QUANTITY_AGE, 7 * 86400000000000 },
		{ "18446744073709551615B", QUANTITY_SETTING, UINT64_MAX },
		{ "1.123456789123456789123456789s", QUANTITY_TIME, 1123456789 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t value = 0;

		OK(quantity_parse(rows[i].text, rows[i].kind, &value));
		EQ(value, rows[i].value);
	}
}

TEST(what_is_no_quantity)
{
	static const struct {
		const char *text;
		enum quantity_kind kind;
	} rows[] = {
		{ "", QUANTITY_SIZE },
		{ "x", QUANTITY_SIZE },
		{ "-1", QUANTITY_SIZE },
		{ "1e9", QUANTITY_SIZE },
		{ "1 XB", QUANTITY_SIZE },
		{ "1 2", QUANTITY_SIZE },
		{ "MiB", QUANTITY_SIZE },
		{ "1MiBs", QUANTITY_SIZE },
		{ "99999999999TiB", QUANTITY_SIZE },
		{ "0x10", QUANTITY_SIZE },
		{ "1,5MiB", QUANTITY_SIZE },
		{ "1.", QUANTITY_SIZE },
		{ "2.5", QUANTITY_SETTING },
		{ "1KiB", QUANTITY_NUMBER },
		{ "12", QUANTITY_TIME },
		{ "1M", QUANTITY_TIME },
		{ "10m", QUANTITY_AGE },
		{ "18446744073709551616", QUANTITY_SETTING },
	};
	uint64_t value;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		OK(!quantity_parse(rows[i].text, rows[i].kind, &value));
}
