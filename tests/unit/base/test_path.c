/* Where a trace and its spool lie: words of a pattern, numbers, the working directory. */
#include "check.h"

#include <errno.h>

#include "base/text/path.h"

static char to[4096];

static const struct path_words words = { "77", "node7", "3", "train" };

static const char *expand(const char *pattern)
{
	EQ(path_expand(to, sizeof(to), pattern, &words), 0);
	return to;
}

TEST(every_word)
{
	STR(expand("/t/%p.json"), "/t/77.json");
	STR(expand("/t/%h-%r-%e.%p.json"), "/t/node7-3-train.77.json");
	STR(expand("/%p%p/%%p"), "/7777/%p");
	STR(expand("/%h/%h/t.json"), "/node7/node7/t.json");
}

TEST(what_is_no_word_stays)
{
	STR(expand("/t%x.json"), "/t%x.json");
	STR(expand("/t%"), "/t%");
	STR(expand("/t%%"), "/t%");
	STR(expand("/t%%%p"), "/t%77");
	STR(expand("/100% of it"), "/100% of it");
}

/* A word is a part of a name: what it holds is no pattern again. */
TEST(words_are_not_expanded_twice)
{
	const struct path_words strange = { "1", "%p", "0", "a%%b" };

	EQ(path_expand(to, sizeof(to), "/%h/%e", &strange), 0);
	STR(to, "/%p/a%%b");
}

TEST(relative_ones_begin_where_the_process_is)
{
	EQ(chdir("/tmp"), 0);
	STR(expand("t.%p.json"), "/tmp/t.77.json");
	STR(expand("../t.json"), "/tmp/../t.json");
	STR(expand("./a/b"), "/tmp/./a/b");
	STR(expand(""), "/tmp/");
	EQ(chdir("/"), 0);
	STR(expand("t.json"), "/t.json");
	EQ(path_spool(to, sizeof(to), "/t.5.json", "spools"), 0);
	STR(to, "/spools/t.5.spool");
}

TEST(a_directory_that_is_gone_is_an_error)
{
	char directory[] = "/tmp/memtrace-path-XXXXXX";

	OK(mkdtemp(directory));
	EQ(chdir(directory), 0);
	EQ(rmdir(directory), 0);
	EQ(path_expand(to, sizeof(to), "t.json", &words), -ENOENT);
	STR(expand("/t.json"), "/t.json");
}

static const struct path_words none = { NULL, NULL, NULL, NULL };

static void clear_launchers(void)
{
	static const char *const names[] = {
#define LAUNCHER(name, rank, size, local) rank, size, local,
#include "base/text/launchers.def"
#undef LAUNCHER
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i][0])
			unsetenv(names[i]);
	}
}

TEST(own_words)
{
	char host[256];
	char wanted[600];

	clear_launchers();
	EQ(gethostname(host, sizeof(host)), 0);
	snprintf(wanted, sizeof(wanted), "/%d %s 0 test_path", (int)getpid(), host);
	EQ(path_expand(to, sizeof(to), "/%p %h %r %e",
		       &(struct path_words){ .program = "test_path" }),
	   0);
	STR(to, wanted);
	snprintf(wanted, sizeof(wanted), "/%d %%e", (int)getpid());
	EQ(path_expand(to, sizeof(to), "/%p %e", &none), 0);
	STR(to, wanted);
}

/* The rank in names of files. */
static const char *named_rank(void)
{
	EQ(path_expand(to, sizeof(to), "/%r", &none), 0);
	return to + 1;
}

TEST(the_first_rank_that_is_a_number)
{
	clear_launchers();
	STR(named_rank(), "0");
	OK(!rank_fact(RANK_NUMBER));
	setenv("SLURM_PROCID", "5", 1);
	STR(named_rank(), "5");
	setenv("PMIX_RANK", "4", 1);
	STR(named_rank(), "4");
	setenv("RANK", "../../etc", 1); /* not a number: no part of a name */
	STR(named_rank(), "4");
	setenv("RANK", "", 1);
	STR(named_rank(), "4");
	setenv("RANK", "99999999999999999999", 1); /* nor is one that no integer holds */
	STR(named_rank(), "4");
	setenv("RANK", "12", 1);
	STR(named_rank(), "12");
}

/* srun numbers the daemons that it starts for mpirun and torchrun: 2 of them here. */
TEST(the_world_is_told_by_who_tells_the_rank)
{
	clear_launchers();
	setenv("SLURM_PROCID", "1", 1);
	setenv("SLURM_NTASKS", "2", 1);
	setenv("SLURM_LOCALID", "0", 1);
	STR(rank_fact(RANK_WORLD), "2");
	STR(rank_fact(RANK_LOCAL), "0");
	setenv("PMI_RANK", "9", 1);
	setenv("PMI_SIZE", "16", 1);
	STR(rank_fact(RANK_WORLD), "16");
	OK(!rank_fact(RANK_LOCAL));
	setenv("RANK", "3", 1); /* a variable of the program's own, perhaps */
	OK(!rank_fact(RANK_WORLD));
	setenv("WORLD_SIZE", "8", 1);
	setenv("LOCAL_RANK", "3", 1);
	STR(rank_fact(RANK_WORLD), "8");
	STR(rank_fact(RANK_LOCAL), "3");
}

TEST(srun_tells_the_world_of_pmix)
{
	clear_launchers();
	setenv("PMIX_RANK", "6", 1);
	OK(!rank_fact(RANK_WORLD));
	setenv("SLURM_PROCID", "6", 1);
	setenv("SLURM_NTASKS", "8", 1);
	setenv("SLURM_LOCALID", "2", 1);
	STR(rank_fact(RANK_WORLD), "8");
	STR(rank_fact(RANK_LOCAL), "2");
}

TEST(numbers_go_before_the_ending)
{
	EQ(path_numbered(to, sizeof(to), "/t.5.json", 0), 0);
	STR(to, "/t.5.json");
	EQ(path_numbered(to, sizeof(to), "/t.5.json", 1), 0);
	STR(to, "/t.5.1.json");
	EQ(path_numbered(to, sizeof(to), "/t", 999), 0);
	STR(to, "/t.999");
	EQ(path_numbered(to, sizeof(to), "/a.json/t", 2), 0);
	STR(to, "/a.json/t.2");
}

TEST(a_spool_lies_beside_or_in_a_directory)
{
	EQ(path_spool(to, sizeof(to), "/d/t.5.json", NULL), 0);
	STR(to, "/d/t.5.spool");
	EQ(path_spool(to, sizeof(to), "/d/t", ""), 0);
	STR(to, "/d/t.spool");
	EQ(path_spool(to, sizeof(to), "/d/t.5.1.json", "/dev/shm"), 0);
	STR(to, "/dev/shm/t.5.1.spool");
}

/* Never a name that is cut short: it would be another's. */
TEST(what_does_not_fit_is_an_error)
{
	char small[16];
	char pattern[64];

	for (size_t length = 1; length < 40; length++) {
		memset(pattern, 'x', length);
		pattern[0] = '/';
		pattern[length] = '\0';
		EQ(path_expand(small, sizeof(small), pattern, &words),
		   length < sizeof(small) ? 0 : -ENAMETOOLONG);
		OK(strlen(small) < sizeof(small));
		EQ(path_numbered(small, sizeof(small), pattern, 7),
		   length + 2 < sizeof(small) ? 0 : -ENAMETOOLONG);
		EQ(path_spool(small, sizeof(small), pattern, NULL),
		   length + 6 < sizeof(small) ? 0 : -ENAMETOOLONG);
		EQ(path_spool(small, sizeof(small), "/d/t.json", pattern),
		   length + 8 < sizeof(small) ? 0 : -ENAMETOOLONG);
	}
	EQ(path_expand(small, sizeof(small), "/%h/%h/%h", &words), -ENAMETOOLONG);
	EQ(chdir("/usr/share"), 0);
	EQ(path_expand(small, sizeof(small), "t.json", &words), -ENAMETOOLONG);
}

/* What is compressed has a longer extension, and the same spool. */
TEST(compressed_outputs)
{
	STR(path_extension("/t/x.json"), ".json");
	STR(path_extension("/t/x.json.gz"), ".json.gz");
	STR(path_extension("/t/x.json.zst"), ".json.zst");
	STR(path_extension("/t/x.gz"), "");
	STR(path_extension("/t/x.jsn.zst"), "");
	STR(path_extension("x.json.xz"), "");
	EQ(path_spool(to, sizeof(to), "/t/x.json.gz", NULL), 0);
	STR(to, "/t/x.spool");
	EQ(path_spool(to, sizeof(to), "/t/x.json.zst", "/dev/shm"), 0);
	STR(to, "/dev/shm/x.spool");
	EQ(path_numbered(to, sizeof(to), "/t/x.json.zst", 3), 0);
	STR(to, "/t/x.3.json.zst");
	EQ(path_numbered(to, sizeof(to), "/t/x.json.gz", 0), 0);
	STR(to, "/t/x.json.gz");
}
