/*
 * Processes for Prometheus: the rows of top_metrics.def, all samples of a metric side by side.
 *
 * Lines of source are not among them: each would be a series of its own, without bound.
 */
#include <inttypes.h>

#include "render/emit/term.h"
#include "render/live/top.h"
#include "render/values/values.h"

enum { LABEL = 512 };

/* name="value", the value escaped as the format wants it. */
static void label(struct out *out, const char *name, const char *value)
{
	char safe[LABEL];

	show_safe(safe, sizeof(safe), value ? value : "", sizeof(safe));
	out_format(out, "%s=\"", name);
	for (const char *p = safe; *p; p++) {
		if (*p == '"' || *p == '\\')
			out_char(out, '\\');
		out_char(out, *p);
	}
	out_char(out, '"');
}

static void begin_sample(struct out *out, const char *name, const struct look *look)
{
	out_format(out, "memtrace_%s{pid=\"%d\"", name, look->pid);
	if (look->rank) {
		out_char(out, ',');
		label(out, "rank", look->rank);
	}
}

static void end_sample(struct out *out, int64_t value)
{
	out_format(out, "} %" PRId64 "\n", value);
}

static void of_scope(struct out *out, const char *name, const struct look *look,
		     const struct live_view_scope *scope, int64_t value)
{
	static const char *const names[] = {
		[SCOPE_POOL] = "pool", [SCOPE_OWNER] = "owner", [SCOPE_SPACE] = "space"
	};

	begin_sample(out, name, look);
	if (scope->kind != SCOPE_SPACE && scope->device != NO_DEVICE)
		out_format(out, ",device=\"%d\"", scope->device);
	if (scope->kind != SCOPE_DEVICE) {
		out_char(out, ',');
		label(out, names[scope->kind], scope->name);
	}
	end_sample(out, value);
}

/* --- the rows --- */

enum row_id {
#define PROCESS(name, type, help, value) ROW_##name,
#define SCOPE(kind, name, type, help, value) ROW_##name,
#define SAMPLED SCOPE
#include "render/live/top_metrics.def"
#undef SCOPE
#undef PROCESS
	ROWS
};

static const struct row {
	const char *name, *type, *help;
	enum scope_kind kind; /* SCOPE_NONE: of the process */
	bool sampled;
} rows[] = {
#define PROCESS(name, type, help, value) { #name, type, help, SCOPE_NONE, false },
#define SCOPE(kind, name, type, help, value) { #name, type, help, SCOPE_##kind, false },
#undef SAMPLED
#define SAMPLED(kind, name, type, help, value) { #name, type, help, SCOPE_##kind, true },
#include "render/live/top_metrics.def"
#undef SCOPE
#undef PROCESS
};

/* `scope` is NULL for what is of the process. */
static int64_t row_value(enum row_id id, const struct look *look,
			 const struct live_view_scope *scope)
{
	switch (id) {
#define PROCESS(name, type, help, value) \
	case ROW_##name:                 \
		return (int64_t)(value);
#define SCOPE(kind, name, type, help, value) PROCESS(name, type, help, value)
#undef SAMPLED
#define SAMPLED SCOPE
#include "render/live/top_metrics.def"
#undef SAMPLED
#undef SCOPE
#undef PROCESS
	case ROWS:
		break;
	}
	return 0;
}

static void head(struct out *out, const struct row *row)
{
	out_format(out, "# HELP memtrace_%s %s\n# TYPE memtrace_%s %s\n", row->name, row->help,
		   row->name, row->type);
}

static void samples(struct out *out, enum row_id id, const struct look *look)
{
	const struct row *row = &rows[id];
	const struct live_view_scope *scope = NULL;

	if (row->kind == SCOPE_NONE) {
		begin_sample(out, row->name, look);
		end_sample(out, row_value(id, look, NULL));
		return;
	}
	while ((scope = live_view_next(look, row->kind, scope))) {
		if (!row->sampled || scope->samples)
			of_scope(out, row->name, look, scope, row_value(id, look, scope));
	}
}

void top_prometheus(const struct top *top, struct out *out)
{
	for (enum row_id id = 0; id < ROWS; id++) {
		head(out, &rows[id]);
		for (size_t i = 0; i < top->looks_n; i++)
			samples(out, id, top->looks[i]);
	}
}
