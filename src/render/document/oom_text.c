/* Explains a failed allocation in at most OOM_TEXT_LINES lines: for stderr when the program ends,
 * for the JSON trace, and for `memtrace report --oom`. */
#include "render/document/document.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"
#include "facts/oom/oom.h"
#include "render/values/values.h"

enum {
	LONG = 1024,                /* size of a sentence's buffer, in bytes */
	FACT_LINES = 2,             /* maximum lines of each statement before the reason */
	WHY_LINES = 3,              /* maximum lines of the reason, which begins with "Why:" */
	HELP_LINES = 3,             /* maximum lines of each of the two pieces of advice */
	HELPS = 1 + 2 * HELP_LINES, /* maximum lines of all advice, including its heading */
	HOLDERS_TOLD = 3,           /* maximum number of holders of memory that are named */
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
#undef BYTES
#undef COUNT
	return 0;
}

/* --- lines of the text --- */

static void add_line(struct oom_text *text, const char *line)
{
	if (text->count < OOM_TEXT_LINES)
		show_cut(text->lines[text->count++], OOM_TEXT_BYTES, line, OOM_TEXT_COLUMNS,
			 SHOW_MIDDLE);
}

/* Adds `begin` and the sentence, in at most `most` lines, the last one cut to fit. Lines after the
 * first are indented by the length of `begin`. */
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
		add_line(text, line);
		rest += length;
		rest += strspn(rest, " ");
	}
}

__attribute__((format(printf, 4, 5))) static void say(struct oom_text *text, const char *begin,
						      unsigned most, const char *format, ...)
{
	char line[LONG];
	va_list values;

	va_start(values, format);
	vsnprintf(line, sizeof(line), format, values);
	va_end(values);
	add_wrapped(text, begin, line, most);
}

static void add_head(struct oom_text *text, const struct oom *oom)
{
	char size[SHOW_NUMBER];
	char when[SHOW_NUMBER];

	show_time(when, oom->row.t);
	if (oom->facts.host)
		say(text, "", FACT_LINES, "out of page-locked host memory, %s after the start",
		    when);
	else if (oom->facts.total)
		say(text, "", FACT_LINES,
		    "out of memory on device %d (%.60s, %s), %s after the start", oom->row.device,
		    oom->card ? oom->card : "unnamed", show_bytes(size, oom->facts.total), when);
	else
		say(text, "", FACT_LINES, "out of memory on device %d, %s after the start",
		    oom->row.device, when);
}

static void add_asked(struct oom_text *text, const struct oom *oom)
{
	const char *api = oom->facts.torch ? NULL : oom->told->api;
	char size[SHOW_NUMBER];

	say(text, "  requested ", FACT_LINES, "%s by %s%s%.60s%s",
	    show_bytes(size, oom->facts.asked), oom->facts.line, api ? " (" : "", api ? api : "",
	    api ? ")" : "");
}

static void add_torch(struct oom_text *text, const struct oom *oom)
{
	const struct oom_facts *facts = &oom->facts;
	char pooled[SHOW_NUMBER];
	char cached[SHOW_NUMBER];
	char largest[SHOW_NUMBER];
	char free[LONG] = "";

	if (oom->known && facts->cached && facts->torch)
		snprintf(free, sizeof(free), "; largest free piece %s",
			 show_bytes(largest, facts->largest));
	else if (oom->known && facts->whole)
		snprintf(free, sizeof(free), "; %s in empty segments",
			 show_bytes(largest, facts->whole));
	say(text, "  PyTorch   ", FACT_LINES, "%s allocated, %s cached%s",
	    show_bytes(pooled, facts->pooled - facts->cached), show_bytes(cached, facts->cached),
	    free);
}

static void add_beside(struct oom_text *text, const struct oom *oom)
{
	bool torch = oom->facts.pooled != 0;
	char held[LONG] = "";
	char size[SHOW_NUMBER];
	unsigned told = 0;

	for (size_t i = 0; i < oom->told->holders_n && told < HOLDERS_TOLD; i++) {
		const struct trace_oom_holder *holder = &oom->told->holders[i];

		if (holder->pool && text_same(holder->holder, "torch"))
			continue;
		snprintf(held + strlen(held), sizeof(held) - strlen(held), "%s%.60s %s",
			 told++ ? ", " : ": ", holder->holder ? holder->holder : "unknown library",
			 show_bytes(size, holder->bytes));
	}
	if (!torch || oom->facts.beside)
		say(text, torch ? "  non-Torch " : "  process   ", FACT_LINES, "%s%s",
		    show_bytes(size, torch ? oom->facts.beside : oom->facts.reserved), held);
}

static void add_device(struct oom_text *text, const struct oom *oom)
{
	char left[SHOW_NUMBER];
	char others[SHOW_NUMBER];

	if (!oom->facts.left && !oom->facts.others)
		return;
	show_bytes(left, oom->facts.left);
	if (oom->row.total)
		say(text, "  device    ", FACT_LINES,
		    "%s free; %s held elsewhere (other processes, CUDA)", left,
		    show_bytes(others, oom->facts.others));
	else
		say(text, "  device    ", FACT_LINES, "about %s free", left);
}

/* Adds the source lines that held most bytes, as many as leave room for the advice, and a last line
 * with the bytes of all others. */
static void add_lines(struct oom_text *text, const struct oom *oom)
{
	uint64_t unknown = oom->told->unknown_bytes;
	uint64_t more = oom->more_bytes + unknown;
	uint64_t all = oom->row.allocated;
	unsigned room = OOM_TEXT_LINES - HELPS - text->count - 2;
	unsigned told = oom->lines_n < room ? oom->lines_n : room;
	uint64_t others = oom->more_lines + oom->lines_n - told;
	char size[SHOW_NUMBER];
	char share[SHOW_NUMBER];

	if (!oom->lines_n)
		return;
	say(text, "", 1, "What held the allocated %s:", show_bytes(size, all));
	for (unsigned i = 0; i < oom->lines_n; i++) {
		const struct oom_line *held = &oom->lines[i];

		if (i < told)
			say(text, "", 1, "%13s %6s  %s", show_bytes(size, held->bytes),
			    show_share(share, held->bytes, all), held->text);
		else
			more += held->bytes;
	}
	if (more)
		say(text, "", 1, "%13s %6s  ... %llu more line%s%s", show_bytes(size, more),
		    show_share(share, more, all), (unsigned long long)others,
		    others == 1 ? "" : "s",
		    unknown ? ", and blocks whose allocation is unknown" : "");
}

static void write_text(struct oom_text *text, const struct oom *oom)
{
	char line[LONG];

	text->count = 0;
	add_head(text, oom);
	add_asked(text, oom);
	if (oom->facts.pooled)
		add_torch(text, oom);
	if (!oom->facts.host)
		add_beside(text, oom);
	add_device(text, oom);
	fill_text(line, sizeof(line), oom->why, put_fact, &oom->facts);
	add_wrapped(text, "Why: ", line, WHY_LINES);
	add_lines(text, oom);
	if (oom->told->advice_n)
		add_line(text, "What would help:");
	for (size_t i = 0; i < oom->told->advice_n; i++)
		add_wrapped(text, "  - ", oom->told->advice[i].text, HELP_LINES);
}

/* Replaces fact names in the advice by values; writes the explanation to *text and oom->told. */
static void fill_words(struct spool_model *recording, const struct oom *oom, struct oom_text *text)
{
	struct trace_oom *told = oom->told;
	char line[LONG];

	for (size_t i = 0; i < told->advice_n; i++) {
		fill_text(line, sizeof(line), told->advice[i].text, put_fact, &oom->facts);
		told->advice[i].text = spool_model_text(recording, line);
	}
	if (recording->error)
		return;
	write_text(text, oom);
	told->text = spool_model_room(recording, text->count, sizeof(*told->text));
	for (unsigned i = 0; told->text && i < text->count; i++)
		told->text[told->text_n++] = spool_model_text(recording, text->lines[i]);
}

void document_ooms(struct spool_model *recording, struct document_told *told)
{
	const struct oom *ooms = spool_model_find_ooms(recording);
	const struct trace *trace = recording->trace;
	struct oom_text text = { .count = 0 };

	for (size_t i = 0; i < trace->ooms_n; i++)
		fill_words(recording, &ooms[i], &text);
	if (!told)
		return;
	/* `text` is that of the last failure, which may have ended the program. */
	*told = (struct document_told){
		.ooms = recording->spool->header->ooms,
		.survived = !trace->ooms_n || trace->ooms[trace->ooms_n - 1].survived,
		.oom = text,
	};
}
