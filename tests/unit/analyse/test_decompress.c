/* What was compressed is read as what it was, in pieces of any size, and damage is found. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyse/input/decompress.h"
#include "analyse/input/error.h"
#include "base/text/fd.h"
#include "cli/packed.h"

enum { SIZE = 300000, MOST = SIZE + 4096 };

static char text[SIZE];
static char read_back[MOST];

/* Neither all alike nor noise. */
static void fill(void)
{
	uint32_t state = 7;

	for (size_t i = 0; i < SIZE; i++) {
		state = state * 1664525 + 1013904223;
		text[i] = (char)("{\"seq\":,0123456789}\n"[state >> 24 & 15]);
	}
}

static int packed(const char *name, size_t piece)
{
	int fd = memfd_create("packed", MFD_CLOEXEC);
	struct pack *pack;

	fill();
	EQ(packed_start(&pack, pack_named(name), name, fd), 0);
	for (size_t at = 0; pack && at < SIZE; at += piece)
		EQ(pack_write(pack, text + at, SIZE - at < piece ? SIZE - at : piece), 0);
	if (pack)
		EQ(pack_end(pack), 0);
	else
		EQ(fd_write_all(fd, text, SIZE), 0);
	return fd;
}

/*
 * Everything from the beginning on, as far as read_back holds it (what is damaged may become any
 * length); the last answer of decompress_read() is given.
 */
static ssize_t read_all(int fd, size_t piece, size_t *length)
{
	struct decompress source;
	ssize_t got;

	EQ(lseek(fd, 0, SEEK_SET), 0);
	decompress_open(&source, fd);
	*length = 0;
	while ((got = decompress_read(&source, read_back + *length, piece)) > 0) {
		if (*length + (size_t)got + piece <= MOST)
			*length += (size_t)got;
	}
	EQ(decompress_read(&source, read_back, 1), got); /* the same again */
	decompress_close(&source);
	return got;
}

static const char *const names[] = {
	"plain.json",
	"x.json.gz",
#ifdef HAVE_ZSTD
	"x.json.zst",
#endif
};

enum { NAMES = sizeof(names) / sizeof(names[0]) };

TEST(pieces_of_any_size)
{
	static const size_t pieces[] = { 1, 3, 5, 4096, SIZE };

	for (size_t i = 0; i < NAMES; i++) {
		int fd = packed(names[i], i ? 1000 : SIZE);

		for (size_t j = 0; j < sizeof(pieces) / sizeof(pieces[0]); j++) {
			size_t length;

			EQ(read_all(fd, pieces[j] < 4096 ? pieces[j] : 4096, &length), 0);
			EQ(length, SIZE);
			OK(!memcmp(read_back, text, SIZE));
		}
		if (i)
			OK(lseek(fd, 0, SEEK_END) < SIZE * 3 / 4);
		close(fd);
	}
}

#ifdef HAVE_ZSTD
/* Behind its magic a damaged frame looks like one that is to be skipped. */
TEST(damage_that_looks_like_a_frame)
{
	static const char frame[] = "\x28\xb5\x2f\xfd\x50\x2a\x4d\x18\x04\0\0\0\xfe\xff\xff\xd3";
	static const size_t pieces[] = { 1, 100, 4096, sizeof(read_back) };
	int fd = memfd_create("frame", MFD_CLOEXEC);
	struct decompress source;

	EQ(fd_write_all(fd, frame, sizeof(frame) - 1), 0);
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		EQ(lseek(fd, 0, SEEK_SET), 0);
		decompress_open(&source, fd);
		EQ(decompress_read(&source, read_back, pieces[i]), -EBADMSG);
		decompress_close(&source);
	}
	close(fd);
}
#endif

/* A hundred times its size, and more than a little: no recording. */
TEST(what_comes_out_has_a_limit)
{
	static const char blanks[4096];
	uint64_t wanted = 2 * (uint64_t)LIMITS_UNPACKED;
	char block[4096];

	for (size_t i = 1; i < NAMES; i++) {
		int fd = memfd_create("bomb", MFD_CLOEXEC);
		struct pack *pack;
		struct decompress source;
		uint64_t got = 0;
		ssize_t n;

		EQ(packed_start(&pack, pack_named(names[i]), names[i], fd), 0);
		for (uint64_t put = 0; put < wanted; put += sizeof(blanks))
			EQ(pack_write(pack, blanks, sizeof(blanks)), 0);
		EQ(pack_end(pack), 0);
		EQ(lseek(fd, 0, SEEK_SET), 0);
		decompress_open(&source, fd);
		while ((n = decompress_read(&source, block, sizeof(block))) > 0)
			got += (uint64_t)n;
		EQ(n, -EFBIG);
		OK(got <= LIMITS_UNPACKED + sizeof(block));
		decompress_close(&source);
		close(fd);
	}
}

TEST(what_is_short_is_plain)
{
	static const char *const shorts[] = { "", "{", "\x1f", "\x28\xb5\x2f" };

	for (size_t i = 0; i < sizeof(shorts) / sizeof(shorts[0]); i++) {
		int fd = memfd_create("short", MFD_CLOEXEC);
		size_t length;

		EQ(fd_write_all(fd, shorts[i], strlen(shorts[i])), 0);
		EQ(read_all(fd, 4096, &length), 0);
		EQ(length, strlen(shorts[i]));
		close(fd);
	}
}

/* Wherever it is cut, that is told; never is it taken for the whole. */
TEST(every_cut_is_found)
{
	for (size_t i = 1; i < NAMES; i++) {
		int fd = packed(names[i], SIZE);
		off_t whole = lseek(fd, 0, SEEK_END);

		for (off_t size = whole - 1; size >= 4; size -= 1 + size / 37) {
			size_t length;

			EQ(ftruncate(fd, size), 0);
			EQ(read_all(fd, 4096, &length), -ENODATA);
			OK(length <= SIZE && !memcmp(read_back, text, length));
		}
		close(fd);
	}
}

TEST(damage_is_found)
{
	for (size_t i = 1; i < NAMES; i++) {
		int fd = packed(names[i], SIZE);
		off_t whole = lseek(fd, 0, SEEK_END);

		for (off_t at = 100; at < whole; at += 1 + whole / 50) {
			unsigned char byte;
			ssize_t result;
			size_t length;

			EQ(pread(fd, &byte, 1, at), 1);
			byte ^= 0x55;
			EQ(pwrite(fd, &byte, 1, at), 1);
			result = read_all(fd, 4096, &length);
			OK(result == -EBADMSG || result == -ENODATA);
			byte ^= 0x55;
			EQ(pwrite(fd, &byte, 1, at), 1);
		}
		close(fd);
	}
}

/* A file of several, one behind the other, is their texts one behind the other. */
TEST(members)
{
	for (size_t i = 1; i < NAMES; i++) {
		int fd = memfd_create("members", MFD_CLOEXEC);
		struct pack *pack;
		size_t length;

		for (int n = 0; n < 3; n++) {
			EQ(packed_start(&pack, pack_named(names[i]), names[i], fd), 0);
			EQ(pack_write(pack, n == 1 ? "" : "abc", n == 1 ? 0 : 3), 0);
			EQ(pack_end(pack), 0);
		}
		EQ(read_all(fd, 4096, &length), 0);
		EQ(length, 6);
		OK(!memcmp(read_back, "abcabc", 6));
		close(fd);
	}
}

/* The first failure of the descriptor is the pack's, also when only the end finds it. */
TEST(a_full_disk_is_told)
{
	for (size_t i = 1; i < NAMES; i++) {
		int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
		struct pack *pack;

		fill();
		EQ(packed_start(&pack, pack_named(names[i]), names[i], fd), 0);
		pack_write(pack, text, SIZE);
		EQ(pack_end(pack), -ENOSPC);
		close(fd);
	}
}

static void *nothing(void *from, const char *name)
{
	(void)from, (void)name;
	return NULL;
}

TEST(without_the_library)
{
	struct pack *pack;

	EQ(pack_start(&pack, PACK_GZIP, 1, nothing, NULL), -ENOTSUP);
	EQ(pack_start(&pack, PACK_ZSTD, 1, nothing, NULL), -ENOTSUP);
	EQ(pack_named("x.json"), PACK_NONE);
	EQ(pack_named(".gz"), PACK_NONE);
	EQ(pack_named("x.gz"), PACK_GZIP);
	EQ(pack_named("x.json.zst"), PACK_ZSTD);
}
