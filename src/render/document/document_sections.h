/*
 * The sections of the document in front of the events, one function each, in the order they are
 * written. Each writes whole members with the comma behind them.
 */
#ifndef RENDER_DOCUMENT_DOCUMENT_SECTIONS_H
#define RENDER_DOCUMENT_DOCUMENT_SECTIONS_H

#include "base/text/out.h"
#include "facts/oom.h"
#include "facts/phases.h"
#include "facts/spool_model.h"

/* A member; `key` is what stands in front of its number, {"key": or ,"key":. */
static inline void document_number(struct out *out, const char *key, uint64_t value)
{
	out_text(out, key);
	out_u64(out, value);
}

/* schema, process, environment, capture */
void document_head(struct out *out, const struct recording *recording, const char *exit);
void document_calls(struct out *out, const struct recording *recording);
/* witness, actions, spans: only when CUPTI was asked for. 0 or -ENOMEM. */
int document_cupti(struct out *out, const struct recording *recording);
void document_used(struct out *out, const struct recording *recording);
void document_summary(struct out *out, const struct recording *recording);
void document_peaks(struct out *out, const struct recording *recording);
void document_ooms(struct out *out, const struct recording *recording, const struct ooms *ooms);
/* modules, frames, stacks, threads */
void document_names(struct out *out, const struct recording *recording);
void document_sites(struct out *out, const struct recording *recording);
void document_phases(struct out *out, const struct recording *recording,
		     const struct phases *phases);

/* What a range or mark says beside its name, each key with a comma in front. */
void document_detail(struct out *out, const struct spool *spool, const struct event_detail *detail);
void document_timeline(struct out *out, const struct recording *recording);

/* Of summary.devices[]: the members of `used` behind its sum; `named`; and of a pool or owner. */
void document_used_of(struct out *out, const struct recording *recording,
		      const struct spool_scope *device);
void document_named(struct out *out, const struct recording *recording, int device);
void document_part_at_used(struct out *out, const struct spool_scope *part);

#endif
