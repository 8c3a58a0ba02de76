/* The pull reader of JSON: every token, every escape, and what hostile documents get. */
#include "check.h"

#include <fcntl.h>
#include <time.h>

#include "analyse/input/error.h"
#include "analyse/input/json.h"
#include "base/text/out.h"

/* The tokens of a text, one letter each: { } [ ] k s n t f 0, then . for a whole document, ! else.
 */
static const char *tokens_of(struct json *json)
{
	static const char letters[] = {
		[JSON_OBJECT] = '{',    [JSON_OBJECT_END] = '}', [JSON_ARRAY] = '[',
		[JSON_ARRAY_END] = ']', [JSON_KEY] = 'k',        [JSON_STRING] = 's',
		[JSON_NUMBER] = 'n',    [JSON_TRUE] = 't',       [JSON_FALSE] = 'f',
		[JSON_NULL] = '0'
	};
	static char text[512];
	size_t used = 0;
	enum json_token token;

	while ((token = json_next(json)) > JSON_END && used < sizeof(text) - 2)
		text[used++] = letters[token];
	text[used++] = token == JSON_END ? '.' : '!';
	text[used] = '\0';
	return text;
}

/* A file with the text, without a name. */
static int file_of(const char *text, size_t length)
{
	int fd = fileno(tmpfile());

	OK(write(fd, text, length) == (ssize_t)length);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* The file of the text before is closed. */
static void open_text(struct json *json, const char *text, size_t length)
{
	static int fd = -1;

	if (fd >= 0)
		close(fd);
	fd = file_of(text, length);
	json_open(json, fd, "t.json");
}

static const char *tokens(const char *document)
{
	const char *text;
	struct json json;

	open_text(&json, document, strlen(document));
	text = tokens_of(&json);
	json_close(&json);
	return text;
}

TEST(tokens_of_every_kind)
{
	STR(tokens("{}"), "{}.");
	STR(tokens(" [ ] \n"), "[].");
	STR(tokens("{\"a\":1,\"b\":[true,false,null,\"x\"],\"c\":{}}"), "{knk[tf0s]k{}}.");
	STR(tokens("{ \"a\" : 1 , \"b\" : [ ] }"), "{knk[]}.");
	STR(tokens("\"alone\""), "s.");
	STR(tokens("-12.5e+3"), "n.");
	STR(tokens("true"), "t.");
}

TEST(what_is_no_json_is_refused)
{
	static const char *const broken[] = {
		"",
		" ",
		"{",
		"[",
		"}",
		"]",
		"[1",
		"[1,",
		"[1,]",
		"{\"a\"",
		"{\"a\":",
		"{\"a\":1",
		"{\"a\":1,",
		"{\"a\":1,}",
		"{a:1}",
		"{\"a\" 1}",
		"{\"a\":1 \"b\":2}",
		"[1 2]",
		"tru",
		"trux",
		"nul",
		"[truefalse]",
		"01",
		"-",
		"1.",
		".5",
		"1e",
		"1e+",
		"+1",
		"--1",
		"0x10",
		"\"",
		"\"\\",
		"\"\\x\"",
		"\"\\u12\"",
		"\"\\u12g4\"",
		"\"a\nb\"",
		"1 2",
		"{} {}",
		"[1}",
		"{]",
		"'a'",
		"NaN",
		"\x01",
		"[\"a\",\x7f]",
	};

	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		const char *seen = tokens(broken[i]);

		if (seen[strlen(seen) - 1] != '!')
			printf("# accepted: %s\n", broken[i]);
		OK(seen[strlen(seen) - 1] == '!');
		OK(strstr(err_text(), "t.json: byte "));
	}
}

static void one(const char *document, struct json *json, enum json_token wanted)
{
	open_text(json, document, strlen(document));
	EQ(json_next(json), wanted);
}

TEST(escapes)
{
	static const struct {
		const char *document, *text;
	} rows[] = {
		{ "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t" },
		{ "\"\\u0041\\u00e9\\u20ac\"", "A\xc3\xa9\xe2\x82\xac" },
		{ "\"\\ud83d\\ude00!\"", "\xf0\x9f\x98\x80!" },
		{ "\"\\uD83D\\uDE00\"", "\xf0\x9f\x98\x80" },
		{ "\"\\ud83d\"", "\xef\xbf\xbd" },
		{ "\"\\ud83dx\"", "\xef\xbf\xbdx" },
		{ "\"\\ude00\\ud83d\"", "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\"\\ud83d\\u0041\"", "\xef\xbf\xbd"
					"A" },
		{ "\"a\\u0000b\"", "a\xef\xbf\xbd"
				   "b" },
		{ "\"\xc3\xa9\"", "\xc3\xa9" },
		{ "\"\"", "" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct json json;

		one(rows[i].document, &json, JSON_STRING);
		STR(json.text, rows[i].text);
		EQ(json.length, strlen(rows[i].text));
		json_close(&json);
	}
}

TEST(numbers_are_exact_to_64_bits)
{
	static const struct {
		const char *document;
		bool exact, negative;
		uint64_t magnitude;
	} rows[] = {
		{ "0", true, false, 0 },
		{ "9007199254740993", true, false, 9007199254740993u },
		{ "18446744073709551615", true, false, UINT64_MAX },
		{ "18446744073709551616", false, false, 0 },
		{ "99999999999999999999999", false, false, 0 },
		{ "-1", true, true, 1 },
		{ "-9223372036854775808", true, true, (uint64_t)1 << 63 },
		{ "-9223372036854775809", false, true, 0 },
		{ "1.0", false, false, 0 },
		{ "1e3", false, false, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct json json;

		one(rows[i].document, &json, JSON_NUMBER);
		EQ(json.exact, rows[i].exact);
		if (json.exact)
			EQ(json.magnitude, rows[i].magnitude);
		EQ(json.negative, rows[i].negative);
		if (!json.exact)
			OK(json.real == strtod(rows[i].document, NULL));
		json_close(&json);
	}
}

TEST(numbers_within_containers)
{
	struct json json;

	one("[18446744073709551615,123456789012345678,7 ,-3]", &json, JSON_ARRAY);
	EQ(json_next(&json), JSON_NUMBER);
	OK(json.exact && json.magnitude == UINT64_MAX);
	EQ(json_next(&json), JSON_NUMBER);
	EQ(json.magnitude, 123456789012345678);
	EQ(json_next(&json), JSON_NUMBER);
	EQ(json.magnitude, 7);
	EQ(json_next(&json), JSON_NUMBER);
	OK(json.exact && json.negative && json.magnitude == 3);
	json_close(&json);
}

TEST(depth_is_bounded)
{
	char text[200];

	memset(text, '[', 64);
	memset(text + 64, ']', 64);
	text[128] = '\0';
	OK(strchr(tokens(text), '.'));
	memset(text, '[', 100);
	text[100] = '\0';
	OK(strchr(tokens(text), '!'));
	STR(err_text(), "t.json: byte 64: arrays and objects nested more than 64 levels deep");
}

TEST(long_names_and_numbers)
{
	struct json json;
	char *text = malloc(3 << 20);

	memset(text, 'x', 3 << 20);
	text[0] = text[10001] = '"'; /* 10 kB are a name */
	open_text(&json, text, 10002);
	EQ(json_next(&json), JSON_STRING);
	EQ(json.length, 10000);
	json_close(&json);

	text[10001] = 'x'; /* 3 MiB are not */
	open_text(&json, text, 3 << 20);
	EQ(json_next(&json), JSON_ERROR);
	STR(err_text(), "t.json: byte 0: a string is longer than 1048576 bytes");
	json_close(&json);

	memset(text, '1', 1000);
	open_text(&json, text, 1000);
	EQ(json_next(&json), JSON_ERROR);
	STR(err_text(), "t.json: byte 0: a number is longer than 512 digits");
	json_close(&json);
	free(text);
}

TEST(blanks_without_end_are_bounded)
{
	size_t length = 16 << 20;
	char *text = malloc(length);
	struct json json;

	memset(text, ' ', length);
	memcpy(text, "{\"key\"", 6);
	json_open(&json, file_of(text, length), "t.json");
	EQ(json_next(&json), JSON_OBJECT);
	EQ(json_next(&json), JSON_ERROR);
	OK(strstr(err_text(), "a string or number is longer than"));
	json_close(&json);
	free(text);
}

TEST(messages_name_the_byte)
{
	STR(tokens("{\"a\":1,\n \"b\" 2}"), "{kn!");
	STR(err_text(), "t.json: byte 13: found '2' where a colon is expected");
	tokens("[1,2");
	STR(err_text(), "t.json: byte 4: the file ends where ',' or ']' is expected");
	tokens("[1,\x01]");
	STR(err_text(), "t.json: byte 3: found byte 0x01 where a value is expected");
}

static const char mixed[] = "{\"a\" : [1, 2.5 ,-3e2,{\"b\":\"\\u00e9\\n\"}], \"c\":{\"d\":null},"
			    "\"e\":true , \"f\":[], \"g\":{}}";

/* Every way to cut the input into reads gives the same tokens: a pipe that is fed byte by byte. */
TEST(reads_of_any_size)
{
	struct json json;
	int pipes[2];

	OK(!pipe(pipes));
	if (!fork()) {
		for (size_t i = 0; i < sizeof(mixed) - 1; i++) {
			if (write(pipes[1], mixed + i, 1) != 1)
				_exit(1);
			if (i % 7 == 0)
				usleep(100);
		}
		_exit(0);
	}
	close(pipes[1]);
	json_open(&json, pipes[0], "pipe");
	STR(tokens_of(&json), "{k[nnn{ks}]k{k0}ktk[]k{}}.");
	json_close(&json);
}

/* Tokens that straddle the end of the buffer, at each of their bytes. */
TEST(tokens_across_the_buffer)
{
	enum { BUFFER = 1 << 18 };
	char *text = malloc(BUFFER + sizeof(mixed));

	for (size_t shift = 0; shift < sizeof(mixed); shift++) {
		size_t blanks = BUFFER - shift;
		struct json json;

		memset(text, ' ', blanks);
		memcpy(text + blanks, mixed, sizeof(mixed) - 1);
		json_open(&json, file_of(text, blanks + sizeof(mixed) - 1), "t.json");
		STR(tokens_of(&json), "{k[nnn{ks}]k{k0}ktk[]k{}}.");
		close(json.source.fd);
		json_close(&json);
	}
	free(text);
}

TEST(every_prefix_is_truncated)
{
	for (size_t length = 0; length < sizeof(mixed) - 1; length++) {
		const char *seen;
		struct json json;

		open_text(&json, mixed, length);
		seen = tokens_of(&json);
		OK(seen[strlen(seen) - 1] == '!');
		OK(json.truncated);
		json_close(&json);
	}
}

TEST(skip_passes_over_a_value)
{
	struct json json;

	one("[{\"a\":[1,[2]],\"b\":{}},5,\"x\",[[]]]", &json, JSON_ARRAY);
	EQ(json_skip(&json, json_next(&json)), 0);
	EQ(json_next(&json), JSON_NUMBER);
	EQ(json_skip(&json, JSON_NUMBER), 0);
	EQ(json_next(&json), JSON_STRING);
	EQ(json_skip(&json, json_next(&json)), 0);
	EQ(json_next(&json), JSON_ARRAY_END);
	EQ(json_next(&json), JSON_END);
	EQ(json_next(&json), JSON_ERROR + 1);
	json_close(&json);
}

TEST(copy_is_compact_and_equal)
{
	char buffer[4096];
	char text[4096];
	struct out out;
	struct json json;
	int fd = file_of("", 0);
	ssize_t length;

	out_init(&out, fd, buffer, sizeof(buffer));
	one(mixed, &json, JSON_OBJECT);
	EQ(json_copy(&json, JSON_OBJECT, &out), 0);
	EQ(json_next(&json), JSON_END);
	EQ(out_flush(&out), 0);
	length = pread(fd, text, sizeof(text) - 1, 0);
	text[length] = '\0';
	STR(text, "{\"a\":[1,2.5,-3e2,{\"b\":\"\xc3\xa9\\n\"}],\"c\":{\"d\":null},\"e\":true,"
		  "\"f\":[],\"g\":{}}");
	json_close(&json);
}

TEST(find_line_jumps_over_others)
{
	static const char text[] = "[\n{\"a\":1},\n{\"b\":2},\n{\"a\":3,\"b\":4},\n{\"a\":5}\n]";
	struct json json;

	json_open(&json, file_of(text, sizeof(text) - 1), "t.json");
	EQ(json_next(&json), JSON_ARRAY);
	OK(json_find_line(&json, "\"b\":4"));
	EQ(json_next(&json), JSON_OBJECT);
	EQ(json_next(&json), JSON_KEY);
	STR(json.text, "a");
	EQ(json_next(&json), JSON_NUMBER);
	EQ(json.magnitude, 3);
	EQ(json_next(&json), JSON_KEY);
	EQ(json_next(&json), JSON_NUMBER);
	EQ(json_next(&json), JSON_OBJECT_END);
	OK(json_find_line(&json, "\"a\":5"));
	EQ(json_next(&json), JSON_OBJECT);
	OK(!json_find_line(&json, "\"c\""));
	json_close(&json);
}

/* A bound against a mistake of an order of magnitude, not a benchmark: sanitizers slow it down. */
TEST(reads_quickly)
{
	static const char line[] =
		"{\"seq\":12345678,\"t\":60000900123,\"op\":\"alloc\",\"device\":0,\"space\":"
		"\"device\","
		"\"pool\":\"torch\",\"ptr\":\"0x7f28f0800000\",\"size\":4194304,\"stack\":1234,"
		"\"thread\":4242,\"stream\":null,\"api\":\"torch\",\"allocated\":4194304,"
		"\"reserved\":20971520},\n";
	size_t length = sizeof(line) - 1;
	size_t lines = (64 << 20) / length;
	char *text = malloc(lines * length + 3);
	struct timespec start, end;
	struct json json;
	enum json_token token;
	double seconds;

	text[0] = '[';
	for (size_t i = 0; i < lines; i++)
		memcpy(text + 1 + i * length, line, length);
	text[lines * length - 1] = ']';
	json_open(&json, file_of(text, lines * length), "t.json");
	clock_gettime(CLOCK_MONOTONIC, &start);
	while ((token = json_next(&json)) > JSON_END)
		;
	clock_gettime(CLOCK_MONOTONIC, &end);
	EQ(token, JSON_END);
	seconds = (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
	printf("# %.0f MB/s\n", (double)(lines * length) / seconds / 1e6);
	OK((double)(lines * length) / seconds > 20e6);
	json_close(&json);
	free(text);
}
