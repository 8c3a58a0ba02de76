/* MEMTRACE_FILTER and MEMTRACE_SIGNAL: what is understood, what is refused, what an answer is. */
#include "check.h"

#include <signal.h>

#include "base/settings/filter.h"
#include "base/settings/opt.h"
#include "unit/chance.h"

static enum filter_answer ask(const char *text, const struct filter_facts *facts)
{
	struct filter filter;

	OK(filter_parse(text, &filter));
	return filter_ask(&filter, facts);
}

static const struct filter_facts block = {
	.known = 1u << FILTER_size | 1u << FILTER_device | 1u << FILTER_pool | 1u << FILTER_owner,
	.number = { [FILTER_size] = 1 << 20, [FILTER_device] = 0 },
	.name = { [FILTER_pool] = "torch", [FILTER_owner] = "libc10_cuda.so" },
};

TEST(filter_of_sizes)
{
	EQ(ask("", &block), FILTER_YES);
	EQ(ask("size>=1MiB", &block), FILTER_YES);
	EQ(ask("size>1MiB", &block), FILTER_NO);
	EQ(ask("size<=1048576", &block), FILTER_YES);
	EQ(ask("size<1M", &block), FILTER_NO);
	EQ(ask("size=1024K", &block), FILTER_YES);
	EQ(ask("size!=1 MiB", &block), FILTER_NO);
	EQ(ask("size>=1KiB,size<2MiB", &block), FILTER_YES);
	EQ(ask("size>=1KiB,size<1MiB", &block), FILTER_NO);
}

TEST(filter_of_names)
{
	EQ(ask("pool=torch,owner=libc10_cuda.so,device=0", &block), FILTER_YES);
	EQ(ask("pool=tor", &block), FILTER_NO);
	EQ(ask("pool=torch2", &block), FILTER_NO);
	EQ(ask("pool=none", &block), FILTER_NO);
	EQ(ask("pool!=none", &block), FILTER_YES);
	EQ(ask("owner!=libnccl.so.2", &block), FILTER_YES);
	EQ(ask("device!=1", &block), FILTER_YES);
	EQ(ask("device=1", &block), FILTER_NO);
}

TEST(filter_of_what_is_not_known)
{
	struct filter_facts facts = block;

	facts.known = 1u << FILTER_size;
	EQ(ask("owner=libnccl.so.2", &facts), FILTER_MAYBE);
	EQ(ask("owner=libnccl.so.2,size>=1MiB", &facts), FILTER_MAYBE);
	EQ(ask("owner=libnccl.so.2,size>1MiB", &facts), FILTER_NO);
	EQ(ask("size>=1MiB", &facts), FILTER_YES);
	/* A name that is none, and pinned memory, which is on no device. */
	facts = block;
	facts.name[FILTER_pool] = NULL;
	facts.number[FILTER_device] = UINT64_MAX;
	EQ(ask("pool=none", &facts), FILTER_YES);
	EQ(ask("device=0", &facts), FILTER_NO);
}

TEST(filters_that_make_no_sense)
{
	static const char *const wrong[] = {
		"size",
		"size>=",
		"size>=x",
		"size=>1",
		"sizes>1",
		">=1",
		"pool",
		"pool=",
		"pool>torch",
		"owner<=x",
		"size>=1,",
		",size>=1",
		"size>=1,,pool=x",
		"size>=-1",
		"color=red",
		"size>=1MiBs",
		"device=all",
		"size>=1;pool=x",
		"size >= 1",
		"=",
		"size>=99999999999999999999",
		",",
		"size!1",
		"pool!torch",
		("size>=1,size>=1,size>=1,size>=1,size>=1,size>=1,size>=1,size>=1,size>=1,"
		 "size>=1,size>=1,size>=1,size>=1,size>=1,size>=1,size>=1,size>=1"),
	};
	struct filter filter;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		OK(!filter_parse(wrong[i], &filter));
		EQ(filter.count, 0);
	}
}

/* Whatever the bytes: an answer or a refusal, and never a look beyond the end. */
TEST(filters_of_random_bytes)
{
	static const char some[] = "sizedvcpoolwnr<>=!,019KMGiB \x80";
	uint64_t chance = 11;
	unsigned understood = 0;

	for (unsigned i = 0; i < 200000; i++) {
		size_t length = chance_below(&chance, 24);
		char *text = malloc(length + 1);
		struct filter filter;

		OK(text);
		for (size_t k = 0; k < length; k++)
			text[k] = some[chance_below(&chance, sizeof(some) - 1)];
		if (i % 2 && length >= 6)
			memcpy(text, "size>=", 6);
		text[length] = '\0';
		if (filter_parse(text, &filter)) {
			understood++;
			OK(filter_ask(&filter, &block) != FILTER_MAYBE);
		}
		free(text);
	}
	OK(understood > 100);
}

TEST(signals_that_may_be_chosen)
{
	struct signal_choice choice;

	OK(signal_choice_parse("", &choice));
	EQ(choice.signal, 0);
	OK(signal_choice_parse("USR2", &choice));
	EQ(choice.signal, SIGUSR2);
	EQ(choice.does, SIGNAL_TOGGLES);
	OK(signal_choice_parse("SIGHUP:mark", &choice));
	EQ(choice.signal, SIGHUP);
	EQ(choice.does, SIGNAL_MARKS);
	OK(signal_choice_parse("WINCH:toggle", &choice));
	EQ(choice.does, SIGNAL_TOGGLES);
	OK(!signal_choice_parse("KILL", &choice));
	EQ(choice.signal, 0);
	OK(!signal_choice_parse("USR2:", &choice));
	OK(signal_choice_parse("USR1:dump", &choice));
	EQ(choice.does, SIGNAL_DUMPS);
	OK(!signal_choice_parse("USR2:dumps", &choice));
	OK(!signal_choice_parse("SIG", &choice));
	OK(!signal_choice_parse("12", &choice));
	OK(!signal_choice_parse(":mark", &choice));
}
