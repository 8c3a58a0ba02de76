/*
 * What of a run is worth committing: a document memtrace/1 of some tens of kB that says of every
 * figure and site what the whole one says, and nothing that differs between two equal runs.
 *
 * Each site has one stack, of the frames that name it (facts/sites.h), so that its name comes out
 * the same. "capture": {"baseline": true} tells it apart.
 */
#pragma once

struct out;
struct run;
struct trace;

/* 0, or -errno with err_text(). */
int baseline_write(struct run *run, struct out *out);

/* baseline_sites.c: the sites, with modules, frames, stacks and the peaks of whole devices; memory
 * is the run's. 0, or -errno with err_text(). */
int baseline_sites(struct trace *to, struct run *run);
