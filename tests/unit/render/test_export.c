/* What exports write by hand, byte by byte: pickles and Protocol Buffers. */
#include "check.h"

#include <sys/mman.h>

#include "base/text/out.h"
#include "render/export/pickle.h"
#include "render/export/protobuf.h"

/* What a function writes through an out. */
struct written {
	int fd;
	char buffer[8192];
	char bytes[200000];
	size_t length;
	struct out out;
};

static void start(struct written *written)
{
	written->fd = memfd_create("wire", 0);
	OK(written->fd >= 0);
	out_init(&written->out, written->fd, written->buffer, sizeof(written->buffer));
}

static void end(struct written *written)
{
	ssize_t count;

	EQ(out_flush(&written->out), 0);
	count = pread(written->fd, written->bytes, sizeof(written->bytes), 0);
	OK(count >= 0);
	written->length = (size_t)count;
	close(written->fd);
}

static struct written written;

static void number_is(uint64_t value, const char *bytes, size_t length)
{
	struct pickle pickle;

	start(&written);
	pickle_start(&pickle, &written.out);
	pickle_u64(&pickle, value);
	pickle_end(&pickle);
	end(&written);
	EQ(written.length, length + 3);
	MEM(written.bytes, "\x80\x04", 2);
	MEM(written.bytes + 2, bytes, length);
	EQ(written.bytes[written.length - 1], '.');
}

TEST(numbers_of_a_pickle)
{
	number_is(0, "K\x00", 2);
	number_is(255, "K\xff", 2);
	number_is(256, "M\x00\x01", 3);
	number_is(65535, "M\xff\xff", 3);
	number_is(65536, "J\x00\x00\x01\x00", 5);
	number_is(0x7fffffff, "J\xff\xff\xff\x7f", 5);
	/* BININT has a sign, and so has LONG1. */
	number_is(0x80000000, "\x8a\x05\x00\x00\x00\x80\x00", 7);
	number_is(0x7fffffffff, "\x8a\x05\xff\xff\xff\xff\x7f", 7);
	number_is(0x8000000000, "\x8a\x06\x00\x00\x00\x00\x80\x00", 8);
	number_is(INT64_MAX, "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f", 10);
	number_is(UINT64_MAX, "\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00", 11);
}

TEST(texts_come_once)
{
	static const char wanted[] = "\x80\x04"
				     "\x8c\x03"
				     "one\x94"
				     "\x8c\x03"
				     "two\x94"
				     "h\x00"
				     "h\x01"
				     ".";
	struct pickle pickle;

	start(&written);
	pickle_start(&pickle, &written.out);
	pickle_text(&pickle, "one");
	pickle_text(&pickle, "two");
	pickle_text(&pickle, "one");
	pickle_text(&pickle, "two");
	pickle_end(&pickle);
	end(&written);
	EQ(written.length, sizeof(wanted) - 1);
	MEM(written.bytes, wanted, sizeof(wanted) - 1);
}

TEST(texts_are_utf8)
{
	static const char wanted[] = "\x80\x04\x8c\x09"
				     "a\xef\xbf\xbd"
				     "b\xe2\x82\xac"
				     "c\x94.";
	char name[301];
	struct pickle pickle;

	start(&written);
	pickle_start(&pickle, &written.out);
	pickle_text(&pickle, "a\xff"
			     "b\xe2\x82\xac"
			     "c");
	pickle_end(&pickle);
	end(&written);
	EQ(written.length, sizeof(wanted) - 1);
	MEM(written.bytes, wanted, sizeof(wanted) - 1);

	memset(name, 'x', 300);
	name[300] = '\0';
	start(&written);
	pickle_start(&pickle, &written.out);
	pickle_text(&pickle, name);
	pickle_end(&pickle);
	end(&written);
	MEM(written.bytes + 2, "X\x2c\x01\x00\x00", 5);
	EQ(written.length, 2 + 5 + 300 + 1 + 1);
}

TEST(long_lists_are_built_in_parts)
{
	struct pickle pickle;
	size_t parts = 0;

	start(&written);
	pickle_start(&pickle, &written.out);
	pickle_list(&pickle);
	for (size_t i = 0; i < 2500; i++) {
		pickle_item(&pickle);
		pickle_bool(&pickle, true);
	}
	pickle_list_end(&pickle);
	pickle_end(&pickle);
	end(&written);
	for (size_t i = 2; i < written.length; i++)
		parts += written.bytes[i] == 'e';
	EQ(parts, 3);
	EQ(written.length, 2 + 1 + 3 + 2500 + 3 + 1);
}

TEST(numbers_of_a_message)
{
	struct protobuf message = { 0 };
	struct protobuf part = { 0 };

	protobuf_u64(&message, 1, 150); /* the example of protobuf.dev */
	protobuf_u64(&message, 2, 0);
	protobuf_bytes(&message, 2, "testing", 7);
	protobuf_u64(&part, 1, 150);
	protobuf_message(&message, 3, &part);
	protobuf_u64(&message, 16, UINT64_MAX);
	MEM(message.bytes,
	    "\x08\x96\x01"
	    "\x12\x07testing"
	    "\x1a\x03\x08\x96\x01"
	    "\x80\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
	    29);
	EQ(message.used, 29);
	EQ(part.used, 0);
	protobuf_clear(&message);
	protobuf_clear(&part);
}
