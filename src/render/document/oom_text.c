/* An allocation that failed, told to people. */
#include "render/document/oom_text.h"

#include <stdio.h>
#include <string.h>

#include "base/text/text.h"
#include "facts/oom/oom.h"
#include "render/values/template.h"
#include "render/values/values.h"

enum {
	LONG = 1024,      /* bytes of a sentence before it is wrapped */
	WHY_LINES = 3,    /* at most, of the reason */
	HELP_LINES = 3,   /* and of each piece of advice */
	HOLDERS_TOLD = 3, /* beside PyTorch, by name */
};

static size_t put_fact(char *to, size_t size, const char *name, const void *from)
{
	const struct oom_facts *facts = from;
	char number[SHOW_NUMBER];

#define BYTES show_bytes
#define COUNT show_count
#define NUMBER(fact, unit, what) FILL_FACT(fact, unit(number, facts->fact))
#define WORDS(fact, what) FILL_FACT(fact, facts->fact)
#include "facts/oom/oom_facts.def"
#undef NUMBER
#undef WORDS
#undef BYTES
#undef COUNT
	return 0;
}

static void fill(const struct oom *oom, const char *with, char *to, size_t size)
{
	fill_text(to, size, with, put_fact, &oom->facts);
}

/* Why it failed, with the numbers. */
static void reason_text(const struct oom *oom, char *to, size_t size)
{
	fill(oom, oom_reason_text(oom->reason), to, size);
}

void oom_text_advice(const struct oom *oom, unsigned i, char *to, size_t size)
{
	fill(oom, oom_advice_text(oom->advice[i]), to, size);
}

/* --- lines --- */

static void add(struct oom_text *text, const char *line)
{
	if (text->count < OOM_TEXT_LINES)
		show_safe(text->lines[text->count++], OOM_TEXT_BYTES, line, OOM_TEXT_COLUMNS);
}

/* In up to `most` lines, the first behind `begin`, the others as far in. What is left over is cut.
 */
static void add_wrapped(struct oom_text *text, const char *begin, const char *sentence,
			unsigned most)
{
	size_t indent = strlen(begin);
	const char *rest = sentence;

	for (unsigned i = 0; *rest && i < most; i++) {
		char line[LONG];
		size_t room = OOM_TEXT_COLUMNS - indent;
		size_t length = strlen(rest);

		if (length > room && i + 1 < most) {
			length = room;
			while (length && rest[length] != ' ')
				length--;
			if (!length)
				length = room;
		}
		text_copy(line, sizeof(line), begin);
		if (i)
			memset(line, ' ', indent);
		text_copy_n(line + indent, sizeof(line) - indent, rest, length);
		add(text, line);
		rest += length;
		rest += strspn(rest, " ");
	}
}

static void add_head(struct oom_text *text, const struct oom *oom)
{
	char line[LONG];
	char size[SHOW_NUMBER];
	char when[SHOW_NUMBER];

	show_time(when, oom->row->t);
	if (oom->facts.host)
		snprintf(line, sizeof(line), "out of page-locked host memory, %s after the start",
			 when);
	else if (oom->facts.total)
		snprintf(line, sizeof(line),
			 "out of memory on device %d (%.60s, %s), %s after the start",
			 oom->row->device, oom->card ? oom->card : "unnamed",
			 show_bytes(size, oom->facts.total), when);
	else
		snprintf(line, sizeof(line), "out of memory on device %d, %s after the start",
			 oom->row->device, when);
	add(text, line);
}

static void add_asked(struct oom_text *text, const struct oom *oom,
		      const struct recording *recording)
{
	const char *api = spool_text(recording->spool, oom->row->api);
	char line[LONG];
	char size[SHOW_NUMBER];

	snprintf(line, sizeof(line), "  asked     %s by %s%s%.60s%s",
		 show_bytes(size, oom->facts.asked), oom->facts.line,
		 oom->facts.torch || !api ? "" : " (", oom->facts.torch || !api ? "" : api,
		 oom->facts.torch || !api ? "" : ")");
	add(text, line);
}

static void add_torch(struct oom_text *text, const struct oom *oom)
{
	const struct oom_facts *facts = &oom->facts;
	char pooled[SHOW_NUMBER];
	char cached[SHOW_NUMBER];
	char largest[SHOW_NUMBER];
	char line[LONG];

	snprintf(line, sizeof(line), "  PyTorch   %s allocated, %s more cached",
		 show_bytes(pooled, facts->pooled - facts->cached),
		 show_bytes(cached, facts->cached));
	if (oom->known && facts->cached && facts->torch)
		snprintf(line + strlen(line), sizeof(line) - strlen(line),
			 facts->largest < facts->asked ? "; no free piece larger than %s"
						       : "; the largest free piece %s",
			 show_bytes(largest, facts->largest));
	else if (oom->known && facts->whole)
		snprintf(line + strlen(line), sizeof(line) - strlen(line),
			 "; %s of that in segments without a block",
			 show_bytes(largest, facts->whole));
	add(text, line);
}

static void add_beside(struct oom_text *text, const struct oom *oom,
		       const struct recording *recording)
{
	bool torch = oom->facts.pooled != 0;
	char line[LONG];
	char size[SHOW_NUMBER];
	unsigned told = 0;

	snprintf(line, sizeof(line), "  %s %s", torch ? "beside it" : "process  ",
		 show_bytes(size, torch ? oom->facts.beside : oom->facts.reserved));
	for (size_t i = 0; i < oom->holders_n && told < HOLDERS_TOLD; i++) {
		const struct oom_holder *holder = &oom->holders[i];
		const char *name = spool_text(recording->spool, holder->name);

		if (holder->pool && name && !strcmp(name, "torch"))
			continue;
		snprintf(line + strlen(line), sizeof(line) - strlen(line), "%s%.60s %s",
			 told++ ? ", " : ": ", name ? name : "not known",
			 show_bytes(size, holder->bytes));
	}
	if (torch && !oom->facts.beside)
		return;
	add(text, line);
}

static void add_device(struct oom_text *text, const struct oom *oom)
{
	char line[LONG];
	char left[SHOW_NUMBER];
	char others[SHOW_NUMBER];

	if (!oom->facts.left && !oom->facts.others)
		return;
	if (oom->row->total)
		snprintf(line, sizeof(line),
			 "  device    %s left; %s not allocated here (other processes, CUDA)",
			 show_bytes(left, oom->facts.left), show_bytes(others, oom->facts.others));
	else
		snprintf(line, sizeof(line), "  device    about %s left",
			 show_bytes(left, oom->facts.left));
	add(text, line);
}

static void add_lines(struct oom_text *text, const struct oom *oom)
{
	char line[LONG];
	char size[SHOW_NUMBER];
	char share[SHOW_NUMBER];

	if (!oom->lines_n)
		return;
	snprintf(line, sizeof(line),
		 "Who held the %s that were allocated:", show_bytes(size, oom->row->allocated));
	add(text, line);
	for (unsigned i = 0; i < oom->lines_n; i++) {
		const struct oom_line *held = &oom->lines[i];

		snprintf(line, sizeof(line), "%13s %6s  %s", show_bytes(size, held->bytes),
			 show_share(share, held->bytes, oom->row->allocated), held->text);
		add(text, line);
	}
	if (!oom->more_lines && !oom->unknown)
		return;
	snprintf(line, sizeof(line), "%13s %6s  ... %llu more lines%s",
		 show_bytes(size, oom->more_bytes + oom->unknown),
		 show_share(share, oom->more_bytes + oom->unknown, oom->row->allocated),
		 (unsigned long long)oom->more_lines,
		 oom->unknown ? ", and blocks from before the events that are kept" : "");
	add(text, line);
}

static void add_advice(struct oom_text *text, const struct oom *oom)
{
	char line[LONG];

	if (oom->advice_n)
		add(text, "What would help:");
	for (unsigned i = 0; i < oom->advice_n; i++) {
		oom_text_advice(oom, i, line, sizeof(line));
		add_wrapped(text, "  - ", line, HELP_LINES);
	}
}

void oom_text(struct oom_text *text, const struct oom *oom, const struct recording *recording)
{
	char line[LONG];

	text->count = 0;
	add_head(text, oom);
	add_asked(text, oom, recording);
	if (oom->facts.pooled)
		add_torch(text, oom);
	if (!oom->facts.host)
		add_beside(text, oom, recording);
	add_device(text, oom);
	reason_text(oom, line, sizeof(line));
	add_wrapped(text, "Why: ", line, WHY_LINES);
	add_lines(text, oom);
	add_advice(text, oom);
}
