/*
 * What reading a spool at once (read.c) and following one (analyse/live/follow.c) have in common.
 */
#ifndef SPOOL_READ_PARTS_H
#define SPOOL_READ_PARTS_H

#include "spool/spool.h"

/* "path: what" into `why`; -EINVAL. */
int read_refuse(char *why, size_t size, const char *path, const char *what);

/* What is wrong with a file that is shorter than a spool's header; -EINVAL. */
int read_too_short(int fd, const char *path, char *why, size_t size);

/* Is it the header of a spool that this build reads? 0, or -EINVAL and a sentence. */
int read_check_header(const struct spool_header *header, const char *path, char *why, size_t size);

/* Bytes of the file to the same place of the copy. 0 or -errno; -ENODATA when they are not there.
 */
int read_copy(const struct spool *spool, int fd, uint64_t at, uint64_t size);

/* The same of elements [from, to) of a table. */
int read_copy_rows(const struct spool *spool, int fd, enum spool_kind kind, uint64_t from,
		   uint64_t to);

/* What tables that only grow have got beyond `copied` of each, which goes on. */
int read_copy_growing(const struct spool *spool, int fd, uint64_t copied[SPOOL_KINDS]);

/* Has a transaction begun, gone on or ended since the header was read from the file? */
bool read_changed_since(const struct spool_header *header, int fd);

/* Do the table's rows stay as they are once they are there? */
bool read_only_grows(enum spool_kind kind);

/*
 * consistent_copy.c: a copy that was made while the process wrote on, brought to one moment; if the
 * process never pauses for as long as that takes, `torn` says so after a second. 0, 1 when the file
 * has outgrown the copy's addresses, or -errno.
 */
int read_settle(struct spool *spool, int fd);

/* In the copy of a spool: takes back the transaction that was under way. */
void read_roll_back(struct spool *spool);

/*
 * The lists of blocks from the owners; blocks past a hole in a table are no use and left out. No
 * table then counts more than its blocks hold.
 */
void read_find_blocks(struct spool *spool);
void read_cap_counts(struct spool *spool);

/* Texts are read as C strings: the last byte of each block must not let one run on. */
void read_end_texts(struct spool *spool);

#endif
