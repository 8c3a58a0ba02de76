/* Text in fixed buffers, numbers against snprintf, and JSON strings of hostile bytes. */
#include "check.h"

#include <inttypes.h>
#include <sys/mman.h>

#include "base/text/out.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "unit/chance.h"

static void number(uint64_t value)
{
	char got[24];
	char wanted[32];
	int length = snprintf(wanted, sizeof(wanted), "%" PRIu64, value);

	EQ(text_u64(got, value), length);
	STR(got, wanted);
	length = snprintf(wanted, sizeof(wanted), "0x%" PRIx64, value);
	EQ(text_hex(got, value), length);
	STR(got, wanted);
}

TEST(numbers_as_snprintf_has_them)
{
	uint64_t chance = 1;
	uint64_t power = 1;

	for (unsigned i = 0; i < 20; i++, power *= 10) {
		number(power);
		number(power - 1);
		number(power + 1);
	}
	for (unsigned i = 0; i < 64; i++) {
		number(1ull << i);
		number((1ull << i) - 1);
	}
	number(UINT64_MAX);
	for (unsigned i = 0; i < 100000; i++)
		number(chance_next(&chance) >> chance_below(&chance, 64));
}

TEST(copies_and_appends_are_cut)
{
	char text[8] = "xxxxxxx";

	EQ(text_copy(text, sizeof(text), "abc"), 3);
	STR(text, "abc");
	EQ(text_append(text, sizeof(text), "de"), 5);
	STR(text, "abcde");
	EQ(text_append(text, sizeof(text), "fghijk"), 7);
	STR(text, "abcdefg");
	EQ(text_append(text, sizeof(text), "h"), 7);
	EQ(text_copy(text, sizeof(text), "12345678"), 7);
	STR(text, "1234567");
	EQ(text_copy(text, 1, "abc"), 0);
	STR(text, "");
	EQ(text_copy(text, 0, "abc"), 0);
	EQ(text_copy_n(text, sizeof(text), "abcdef", 2), 2);
	STR(text, "ab");
	EQ(text_join(text, sizeof(text), "1234", "5678"), 7);
	STR(text, "1234567");
}

TEST(the_base_of_a_path)
{
	STR(text_base("/a/b/c.so"), "c.so");
	STR(text_base("c.so"), "c.so");
	STR(text_base("/a/"), "");
	STR(text_base(""), "");
}

/* --- JSON strings --- */

static char printed[1 << 17];

static const char *json_of(const char *text, size_t length)
{
	char buffer[4096];
	struct out out;
	int fd = memfd_create("json", 0);
	ssize_t n;

	OK(fd >= 0);
	out_init(&out, fd, buffer, sizeof(buffer));
	out_json_n(&out, text, length);
	EQ(out_flush(&out), 0);
	n = pread(fd, printed, sizeof(printed) - 1, 0);
	OK(n >= 2);
	EQ(out.written, n);
	printed[n] = '\0';
	close(fd);
	return printed;
}

static bool is_hex(const char *p)
{
	return strspn(p, "0123456789abcdefABCDEF") >= 4;
}

/* The length of the UTF-8 sequence at p by the letter of RFC 3629: decode, then look. */
static size_t utf8(const unsigned char *p)
{
	size_t length = p[0] < 0x80 ? 1 : p[0] >> 5 == 6 ? 2 : p[0] >> 4 == 14 ? 3 : 4;
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t code = length == 1 ? p[0] : p[0] & (0x7fu >> length);

	if (length == 4 && p[0] >> 3 != 30)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if (p[i] >> 6 != 2)
			return 0;
		code = code << 6 | (p[i] & 63);
	}
	if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	return length;
}

/* A JSON string as RFC 8259 wants it, to its end. */
static bool is_json_string(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	if (*p++ != '"')
		return false;
	while (*p != '"') {
		size_t length;

		if (*p < 0x20)
			return false;
		if (*p == '\\') {
			if (p[1] == 'u' ? !is_hex((const char *)p + 2)
					: !p[1] || !strchr("\"\\/bfnrt", p[1]))
				return false;
			p += p[1] == 'u' ? 6 : 2;
			continue;
		}
		length = utf8(p);
		if (!length)
			return false;
		p += length;
	}
	return !p[1];
}

TEST(plain_text_stays)
{
	STR(json_of("abc", 3), "\"abc\"");
	STR(json_of("", 0), "\"\"");
	STR(json_of("Zo\xc3\xab \xe2\x82\xac \xf0\x9f\x98\x80", 13),
	    "\"Zo\xc3\xab \xe2\x82\xac \xf0\x9f\x98\x80\"");
}

TEST(what_must_be_escaped_is)
{
	STR(json_of("a\"b\\c/d\n\t\r\x01\x1f\x7f", 13),
	    "\"a\\\"b\\\\c/d\\n\\t\\u000d\\u0001\\u001f\\u007f\"");
	STR(json_of("a\0b", 3), "\"a\\u0000b\"");
}

TEST(what_would_steer_a_terminal_is_escaped)
{
	STR(json_of("\x7f", 1), "\"\\u007f\"");
	STR(json_of("\xc2\x9b", 2), "\"\\u009b\"");                /* CSI in one character */
	STR(json_of("\xe2\x80\xae", 3), "\"\\u202e\"");            /* what follows runs backwards */
	STR(json_of("\xe2\x80\xa8", 3), "\"\\u2028\"");            /* a line break */
	STR(json_of("\xf3\xa0\x81\x81", 4), "\"\\udb40\\udc41\""); /* an invisible tag */
	STR(json_of("\xc3\xbc\xe6\x97\xa5\xf0\x9f\x98\x80", 9),
	    "\"\xc3\xbc\xe6\x97\xa5\xf0\x9f\x98\x80\"");
}

TEST(a_line_for_people_is_cleaned)
{
	char line[] = "a\x1b[31m\xc2\x9b"
		      "b\xe2\x80\xae\xc3\xbc\xff\xe2\x82";

	utf8_clean(line);
	STR(line, "a?[31m?b?\xc3\xbc???");
}

TEST(sameness_and_endings)
{
	OK(text_same("a", "a") && text_same("", "") && text_same(NULL, NULL));
	OK(!text_same("a", "b") && !text_same("", NULL) && !text_same(NULL, ""));
	OK(text_ends("memtrace.5.spool", ".spool") && text_ends("a/", "/"));
	OK(!text_ends(".spool", ".spool") && !text_ends("spool", ".spool"));
	OK(!text_ends("a.spool.json", ".spool") && !text_ends("", "/"));
}

static void check_character(uint32_t c)
{
	static const uint32_t beyond[] = { 0x80, 0x800, 0x10000, 0x110000 };
	char text[UTF8_MOST + 1] = { 1, 1, 1, 1, 1 };
	size_t length = utf8_encode(text, UTF8_MOST, c);
	uint32_t back = 0;

	OK(length && c < beyond[length - 1] && (length < 2 || c >= beyond[length - 2]));
	EQ(text[length], 1);
	EQ(utf8_decode(text, length, &back), length);
	EQ(back, c);
	EQ(utf8_encode(text, length - 1, c), 0);
}

TEST(characters_become_utf8)
{
	static const uint32_t edges[] = { 0x7f,   0x80,   0x7ff,   0x800,   0xd7ff,
					  0xe000, 0xffff, 0x10000, 0x10ffff };

	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
		check_character(edges[i]);
	for (uint32_t c = 1; c < 0xd800; c += 61)
		check_character(c);
	for (uint32_t c = 0xe000; c < 0x110000; c += 1021)
		check_character(c);
}

TEST(what_is_no_utf8_is_replaced)
{
	STR(json_of("\xff", 1), "\"\\ufffd\"");
	STR(json_of("\xc0\x80", 2), "\"\\ufffd\\ufffd\"");            /* overlong */
	STR(json_of("\xed\xa0\x80", 3), "\"\\ufffd\\ufffd\\ufffd\""); /* a surrogate */
	STR(json_of("\xf4\x90\x80\x80", 4), "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
	STR(json_of("a\xe2\x82", 3), "\"a\\ufffd\\ufffd\""); /* cut short */
}

TEST(hostile_bytes_give_valid_strings)
{
	static const unsigned char edges[] = { 0x00, 0x1f, 0x20, 0x22, 0x5c, 0x7f, 0x80, 0xbf,
					       0xc1, 0xc2, 0xdf, 0xe0, 0xa0, 0xed, 0x9f, 0xef,
					       0xf0, 0x90, 0xf4, 0x8f, 0xf5, 0xff };
	uint64_t chance = 5;
	char text[64];

	for (unsigned i = 0; i < 30000; i++) {
		size_t length = chance_below(&chance, sizeof(text) + 1);

		for (size_t k = 0; k < length; k++)
			text[k] = (char)(chance_one_in(&chance, 3)
						 ? chance_next(&chance)
						 : edges[chance_below(&chance, sizeof(edges))]);
		OK(is_json_string(json_of(text, length)));
	}
}

TEST(text_longer_than_the_buffer)
{
	static char text[50000];

	memset(text, '"', sizeof(text));
	OK(is_json_string(json_of(text, sizeof(text))));
	EQ(strlen(printed), 2 * sizeof(text) + 2);
}

TEST(null_is_null)
{
	char buffer[4096];
	struct out out;
	int fd = memfd_create("null", 0);
	char got[16] = "";

	out_init(&out, fd, buffer, sizeof(buffer));
	out_json(&out, NULL);
	out_char(&out, ' ');
	out_i64(&out, INT64_MIN);
	EQ(out_flush(&out), 0);
	OK(pread(fd, got, 4, 0) == 4);
	STR(got, "null");
	EQ(out.written, 25);
	close(fd);
}

TEST(the_first_error_is_kept)
{
	char buffer[4096];
	struct out out;

	out_init(&out, -1, buffer, sizeof(buffer));
	for (unsigned i = 0; i < 10000; i++)
		out_text(&out, "more than the buffer holds");
	EQ(out_flush(&out), -9);
	EQ(out.error, -9);
}
