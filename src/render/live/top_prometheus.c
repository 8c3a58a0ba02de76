/*
 * Writes the metrics of top_metrics.def for Prometheus, one after another, each with the values of
 * all processes.
 *
 * Lines of source are left out: each would be a time series, and their number has no limit.
 */
#include <inttypes.h>

#include "base/mem/each.h"
#include "render/emit/term.h"
#include "render/live/top.h"
#include "render/values/values.h"

enum { LABEL = 512 };

/* Writes the label ,name="value", with quotes and backslashes escaped; nothing if value is NULL. */
static void label(struct out *out, const char *name, const char *value)
{
	char safe[LABEL];

	if (!value)
		return;
	show_safe(safe, sizeof(safe), value, sizeof(safe));
	out_format(out, ",%s=\"", name);
	for (const char *p = safe; *p; p++) {
		if (*p == '"' || *p == '\\')
			out_char(out, '\\');
		out_char(out, *p);
	}
	out_char(out, '"');
}

static const struct live_metric {
	const char *name, *type, *help;
	enum scope_kind kind; /* SCOPE_NONE if the metric describes the process */
	bool sampled;         /* left out for scopes whose bytes in use were never measured */
	size_t at, size;      /* offset and size of the value: int64_t, uint64_t or bool */
} metrics[] = {
#define MEMBER(type, member) offsetof(type, member), sizeof(((type *)NULL)->member)
#define PROCESS(name, type, help, member) \
	{ #name, type, help, SCOPE_NONE, false, MEMBER(struct look, member) },
#define SCOPE(kind, name, type, help, member) \
	{ #name, type, help, SCOPE_##kind, false, MEMBER(struct live_view_scope, member) },
#define SAMPLED(kind, name, type, help, member) \
	{ #name, type, help, SCOPE_##kind, true, MEMBER(struct live_view_scope, member) },
#include "render/live/top_metrics.def"
#undef SAMPLED
#undef SCOPE
#undef PROCESS
#undef MEMBER
};

static void scope_labels(struct out *out, const struct live_view_scope *scope)
{
	static const char *const names[] = {
		[SCOPE_POOL] = "pool", [SCOPE_OWNER] = "owner", [SCOPE_SPACE] = "space"
	};

	if (scope->row.kind != SCOPE_SPACE && scope->row.device != NO_DEVICE)
		out_format(out, ",device=\"%d\"", scope->row.device);
	label(out, "uuid", scope->uuid);
	if (scope->row.kind != SCOPE_DEVICE)
		label(out, names[scope->row.kind], scope->name ? scope->name : "");
}

static void sample(struct out *out, const struct live_metric *metric, const struct look *look,
		   const struct live_view_scope *scope)
{
	const void *member = (scope ? (const char *)scope : (const char *)look) + metric->at;

	out_format(out, "memtrace_%s{pid=\"%d\"", metric->name, look->pid);
	label(out, "rank", look->rank);
	label(out, "host", look->host);
	label(out, "command", look->command);
	if (scope)
		scope_labels(out, scope);
	out_format(out, "} %" PRId64 "\n",
		   metric->size == sizeof(bool) ? *(const bool *)member : *(const int64_t *)member);
}

static void samples(struct out *out, const struct live_metric *metric, const struct look *look)
{
	const struct live_view_scope *scope = NULL;

	if (metric->kind == SCOPE_NONE) {
		sample(out, metric, look, NULL);
		return;
	}
	while ((scope = live_view_next(look, metric->kind, scope))) {
		if (!metric->sampled || scope->row.used_samples)
			sample(out, metric, look, scope);
	}
}

void top_prometheus(const struct top *top, struct out *out)
{
	foreach (metric, metrics, COUNT_OF(metrics)) {
		out_format(out, "# HELP memtrace_%s %s\n# TYPE memtrace_%s %s\n", metric->name,
			   metric->help, metric->name, metric->type);
		foreach (look, top->looks)
			samples(out, metric, *look);
	}
}
