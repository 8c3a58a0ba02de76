/*
 * A trace (memtrace/1), opened: its facts in memory, its events pulled one by one.
 *
 * One struct for each object of the document, in its order: a header that is the document's table
 * of contents.
 *
 * Everything in front of `events` is read at once into arrays that live until trace_close(),
 * however many events follow. What the file refers to by position has been checked.
 * include/memtrace/trace.schema.json says what each member means; its names are used here.
 *
 * Functions that can fail return 0 or -errno and leave a sentence in err_text(). A spool is taken
 * where a trace is, through the converter that cli sets.
 */
#ifndef ANALYSE_TRACE_TRACE_H
#define ANALYSE_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/input/json.h"
#include "base/mem/arena.h"
#include "codec/event.h"

#define TRACE_NONE UINT64_MAX /* a number that the trace does not tell */

enum {
	TRACE_FEW = 500000, /* events that are read in a few tenths of a second: unasked, too */
};

enum trace_exit {
	TRACE_EXIT,
	TRACE_RUNNING,
	TRACE_UNFINISHED,
};

enum trace_metric { TRACE_ALLOCATED, TRACE_RESERVED, TRACE_USED, TRACE_METRICS };

struct trace_process {
	uint64_t pid, ppid;
	const char *host;
	uint64_t rank, world_size; /* 0 of 1 where no launcher told the process */
	uint64_t local_rank;       /* TRACE_NONE then */
	const char **command;
	size_t command_n;
	const char *cwd;
	const char *start_time;
	uint64_t start_ticks; /* of the kernel's clock since boot, 0 when unknown */
	uint64_t duration_ns;
	int exit;                /* enum trace_exit */
	uint64_t status, signal; /* TRACE_NONE unless `memtrace run` saw them */
};

struct trace_pair {
	const char *name;
	const char *value; /* NULL when unset */
};

struct trace_card {
	int device;
	const char *name, *uuid;
	uint64_t total_bytes;
};

struct trace_environment {
	const char *memtrace;
	uint64_t cuda_driver, cuda_runtime;
	const char *torch, *python;
	struct trace_pair *settings;
	size_t settings_n;
	struct trace_card *devices;
	size_t devices_n;
};

struct trace_call {
	const char *api;
	uint64_t calls, failed;
	uint64_t total_ns, max_ns; /* inside the call */
};

/* A record of CUPTI's that no event matches. */
struct trace_record {
	uint64_t t;
	const char *op, *memory;
	bool mapping, ordered;
	int device;
	uint64_t ptr, size;
};

/* CUPTI's records of memory against the events; facts/cupti_check.h says how. */
struct trace_witness {
	uint64_t cupti; /* its version, 130001; 0: it was not asked for */
	uint64_t records, matched, unjudged, lost, events_alone, pools;
	struct trace_record *unmatched; /* the first of them */
	size_t unmatched_n;
};

/* What CUPTI saw run: a kernel, a copy, a call. */
struct trace_action {
	const char *kind; /* kernel, copy, fill, runtime, driver, migration, variables */
	const char *name;
	uint64_t count, total_ns, max_ns, bytes;
};

/* One of them on the timeline: all that ran on a device, and long calls; the latest ones. */
struct trace_span {
	uint64_t t, ns;
	uint32_t action; /* position */
	int device;
	uint32_t thread; /* of a call */
	uint32_t stream; /* of what ran on the device: CUPTI's number */
	uint64_t bytes;
};

/* A sample of `used` at which something was found that no allocation explains. */
struct trace_used {
	uint64_t t;
	int device;
	int64_t bytes;           /* 0: only the residual changed */
	const char *name, *kind; /* NULL then */
	const char *api;
	uint32_t stack; /* UINT32_MAX for none */
	uint64_t thread;
	uint64_t used, reserved;
	int64_t rounding, named, residual;
};

struct trace_capture {
	struct trace_pair *doors;
	size_t doors_n;
	const char *stacks;
	uint64_t events_recorded, events_dropped;
	uint64_t events_since; /* ns: none is missing from then on; TRACE_NONE: none was dropped */
	/* Of the dropped: those while events were off, and those that MEMTRACE_FILTER left out. */
	uint64_t events_stopped, events_filtered;
	uint64_t sample_bytes; /* from sample to sample, 0 without: then sites are estimated */
	bool truncated;
	bool baseline; /* made by `memtrace baseline`: sums and sites only */
	uint64_t ns_per_event;
	const char **notes;
	size_t notes_n;
};

/* Those that gave way to newer ones, and so would be there with a larger MEMTRACE_MAX_EVENTS. */
static inline uint64_t trace_crowded_out(const struct trace_capture *capture)
{
	uint64_t others = capture->events_stopped + capture->events_filtered;

	return capture->events_dropped > others ? capture->events_dropped - others : 0;
}

/* What `used` was made of; they sum to it. */
struct trace_explained {
	uint64_t reserved_bytes; /* TRACE_NONE: the trace does not tell */
	int64_t rounding_bytes, named_bytes, residual_bytes;
};

struct trace_sum {
	uint64_t peak_bytes, peak_t, exit_bytes; /* each may be TRACE_NONE */
	/* Of `used` alone: */
	const char *source; /* who was asked */
	uint64_t samples;
	struct trace_explained at_peak, at_exit;
	int64_t residual_min_bytes, residual_max_bytes;
};

/* What is occupied without having been allocated. */
struct trace_name {
	const char *name, *kind;
	int64_t bytes, at_used_peak_bytes;
	uint64_t steps;
};

/* What it had when `used` was at its highest. */
struct trace_at_used {
	uint64_t allocated_bytes, reserved_bytes;
};

/* A pool or an owner; `name` is the key "pool" or "owner". */
struct trace_part {
	const char *name;
	struct trace_sum allocated, reserved;
	struct trace_at_used at_used_peak;
	uint64_t allocations, frees;
};

/* Kept by baselines alone. */
struct trace_category {
	const char *category;
	uint64_t peak_bytes, exit_bytes;
};

struct trace_device {
	int device;
	const char *name; /* may be NULL */
	uint64_t total_bytes;
	struct trace_sum allocated, reserved, used;
	uint64_t allocations, frees, ooms, retries;
	struct trace_name *named;
	struct trace_part *pools, *owners;
	size_t named_n, pools_n, owners_n;
	struct trace_category *categories;
	size_t categories_n;
};

struct trace_space {
	const char *space;
	struct trace_sum allocated;
	uint64_t allocations, frees;
	struct trace_category *categories;
	size_t categories_n;
};

struct trace_share {
	uint64_t bytes, count;
	uint64_t estimated_bytes;
	uint32_t stack;
};

struct trace_peak {
	int device;
	int metric;       /* enum trace_metric */
	const char *pool; /* NULL: the whole device */
	uint64_t t, bytes;
	struct trace_share *stacks;
	size_t stacks_n;
};

/* A pool's segments when an allocation failed. */
struct trace_oom_pool {
	const char *pool;
	uint64_t reserved_bytes, allocated_bytes, largest_free_bytes, free_segments_bytes;
	uint64_t gaps_bytes, gaps;
};

struct trace_oom_holder {
	const char *holder; /* a pool's or a library's name, NULL when not known */
	bool pool;
	uint64_t bytes;
};

struct trace_oom_advice {
	const char *rule, *text;
	uint64_t bytes; /* that it would free */
};

/* An allocation that failed for want of memory, explained: facts/oom.h. */
struct trace_oom {
	uint64_t seq, t, thread, size;
	int device;
	uint32_t stack;
	const char *space, *pool, *api, *reason;
	uint64_t refused_bytes, free_bytes, total_bytes, others_bytes; /* each may be TRACE_NONE, */
	uint64_t limit_min_bytes, limit_max_bytes;                     /* and these, */
	uint64_t allocated, reserved, cached, unknown_bytes;           /* and these */
	bool survived;
	uint64_t allocations_after;
	struct trace_oom_pool *pools;
	struct trace_oom_holder *holders;
	struct trace_share *stacks;
	struct trace_oom_advice *advice;
	const char **text; /* the lines of the explanation */
	size_t pools_n, holders_n, stacks_n, advice_n, text_n;
};

struct trace_module {
	const char *path, *build_id;
	uint64_t base;
};

struct trace_frame {
	const char *function; /* NULL when unknown, never empty */
	const char *file, *symbol;
	uint64_t offset;
	uint32_t line;
	uint32_t module; /* UINT32_MAX when unknown */
	int language;    /* enum frame_language's first two: 0 native, 1 Python */
};

enum { TRACE_NATIVE, TRACE_PYTHON };

struct trace_stack {
	uint32_t number;  /* its position in the document */
	uint32_t *frames; /* innermost first */
	size_t frames_n;
	uint32_t *entries; /* positions in frames: Python that C code called, which is not known */
	size_t entries_n;
	const char *node;   /* of autograd's graph, as "MmBackward0"; NULL when it is none's */
	const char *via;    /* "forward", "backward": how via_stack comes into this one */
	uint32_t via_stack; /* whose Python frames follow the stack's own; UINT32_MAX for none */
	const char *owner;  /* NULL when unknown */
	const char *group;  /* replay_adopt(): its thread or phase, where rows are by these */
	uint64_t allocations, bytes;
	uint64_t frees, freed_bytes;                     /* of those allocations */
	uint64_t frees_here, freed_here_bytes;           /* frees made by this stack */
	uint64_t live_bytes, live_count;                 /* at exit */
	uint64_t peak_bytes, peak_count;                 /* in the peaks of allocated */
	uint64_t estimated_allocations, estimated_bytes; /* of a sampled trace */
	uint64_t estimated_live_bytes, estimated_peak_bytes;
	uint64_t lifetime_min_ns, lifetime_max_ns; /* TRACE_NONE when nothing was freed */
};

struct trace_thread {
	uint64_t thread; /* kernel thread id */
	const char *name;
	bool main;  /* the process's first */
	uint64_t t; /* when it was first seen */
};

struct trace_site {
	const char *site;
	const char *space; /* "device" when the trace does not say */
	uint32_t *stacks;
	size_t stacks_n;
	uint64_t allocations, frees, bytes, live_bytes, peak_bytes;
	uint64_t estimated_allocations, estimated_bytes; /* of a sampled trace */
	uint64_t estimated_live_bytes, estimated_peak_bytes;
	uint64_t lifetime_min_ns, lifetime_max_ns; /* TRACE_NONE when nothing was freed */
};

struct trace_phase_sums {
	uint64_t start_bytes, end_bytes, peak_bytes;
};

struct trace_phase_count {
	uint64_t bytes, count;
};

/* One device's share of a phase. */
struct trace_phase_device {
	int device;
	struct trace_phase_sums allocated, reserved;
	struct trace_phase_count born, freed, outliving;
};

struct trace_phase {
	const char *name, *domain;
	uint64_t thread, start, end;            /* end is TRACE_NONE when it never ended */
	const char *category, *color, *payload; /* as NVTX was told, NULL for none */
	struct trace_phase_sums allocated, reserved;
	struct trace_phase_count born, freed, outliving; /* TRACE_NONE when not known */
	struct trace_phase_device *devices;              /* none when there was but one */
	size_t devices_n;
};

struct trace_curve {
	int device;
	const char *pool;
	uint64_t *t, *allocated, *reserved, *used; /* used holds TRACE_NONE where nobody asked */
	size_t t_n, allocated_n, reserved_n, used_n;
};

/* An event; texts are ids for trace_text(), 0 for none. */
struct trace_event {
	uint64_t seq, t;
	uint64_t ptr; /* 0 for null */
	uint64_t size;
	uint64_t stream;              /* 0 for null */
	uint64_t allocated, reserved; /* TRACE_NONE for null */
	uint64_t thread;
	uint64_t range; /* of a push or pop that came from an NVTX range, else 0 */
	uint32_t stack; /* UINT32_MAX when it has none */
	uint32_t pool, api, error, name, domain;
	int16_t device; /* NO_DEVICE for null */
	uint8_t op;     /* enum event_op; EVENT_OPS for one that this reader does not know */
	uint8_t space;  /* enum space; SPACES for one that it does not know, and for marks */
	bool foreign;
};

struct trace_texts {
	struct trace_text_slot *slots;
	size_t slots_n, used;
	const char **texts; /* `used` of them: the id of each is 1 + its position */
};

struct trace {
	const char *path;
	const char *schema;
	struct trace_process process;
	struct trace_environment environment;
	struct trace_capture capture;
	struct trace_call *calls; /* the longest first */
	size_t calls_n;
	/* Only when CUPTI was asked for. */
	struct trace_witness witness;
	struct trace_action *actions;
	size_t actions_n;
	struct trace_span *spans;
	size_t spans_n;
	uint64_t spans_dropped;
	struct trace_used *used; /* in the order of time */
	size_t used_n;
	struct {
		struct trace_device *devices;
		size_t devices_n;
		struct trace_space *spaces;
		size_t spaces_n;
	} summary;
	struct trace_peak *peaks;
	struct trace_oom *ooms; /* in the order of time */
	struct trace_module *modules;
	struct trace_frame *frames;
	struct trace_stack *stacks;
	struct trace_thread *threads;
	struct trace_site *sites;
	struct trace_phase *phases;
	struct trace_curve *timeline;
	size_t peaks_n, ooms_n, modules_n, frames_n, stacks_n, threads_n, sites_n, phases_n,
		timeline_n;

	int by;            /* enum trace_by: what a site is */
	uint32_t *site_of; /* by stack: its site, UINT32_MAX for none */
	bool spool;        /* the path names a spool */
	bool once;         /* a pipe: it cannot be opened again to be read a second time */
	bool with_events;  /* trace_next() has something to give */

	/* The rest is the reader's own. */
	struct json json;
	struct arena arena;
	struct trace_texts texts;
	int fd;
	bool in_events;
	const char *section; /* being read */
	uint8_t order[32];   /* keys of the last event, by position */
	uint32_t last_text[8];
};

/* Writes a spool's document to fd: 0, or an error with its text in err_text(). */
typedef int trace_converter(const char *spool, int fd, bool events);

void trace_set_converter(trace_converter *converter);

/* "-" is standard input. The path must outlive the trace. After a failure nothing is open. */
int trace_open(struct trace *trace, const char *path);

/* The same for who does not want events, which a spool then need not print. */
int trace_open_facts(struct trace *trace, const char *path);

void trace_close(struct trace *trace);

/* The next event: 1 and the event, 0 behind the last one, -EINVAL when the file is broken there. */
int trace_next(struct trace *trace, struct trace_event *event);

/* The next event of one kind, passing over the lines of others without reading them. */
int trace_next_of(struct trace *trace, enum event_op op, struct trace_event *event);

/* The next event as it stands in the file, on one line and without a line break: as trace_next().
 */
int trace_copy(struct trace *trace, struct out *out);

/* The text with the id, NULL for 0. */
const char *trace_text(const struct trace *trace, uint32_t id);

/* Does the file begin as a spool? False as well when it cannot be read. */
bool trace_is_spool(const char *path);

/* The newest thread with the number, NULL when the trace does not name it. */
const struct trace_thread *trace_thread(const struct trace *trace, uint64_t thread);

/* The device's row, the peak, the curve; NULL when the trace has none. */
const struct trace_device *trace_device(const struct trace *trace, int device);
const struct trace_peak *trace_peak(const struct trace *trace, int device, const char *pool,
				    enum trace_metric metric);
const struct trace_curve *trace_curve(const struct trace *trace, int device, const char *pool);

/* What the curve's column says at time t, TRACE_NONE when it does not reach there. */
uint64_t trace_curve_at(const struct trace_curve *curve, const uint64_t *column, uint64_t t);

/* --- what of a stack to show: trace_frames.c --- */

/* Is it the machinery that everybody's allocation runs through (CUDA, c10, libc, the interpreter)?
 */
bool trace_frame_internal(const struct trace *trace, const struct trace_frame *frame);

/* How little it says to its user: 0 for their own code, more for what everybody runs through. */
unsigned trace_frame_rank(const struct trace *trace, const struct trace_frame *frame);

/* Is it the user's own code, or Python of a package that is no framework? */
bool trace_frame_own(const struct trace *trace, const struct trace_frame *frame);

/*
 * The frame of the stack that matters to its user: the first that is their own code, else the first
 * that is anybody's Python, else the first that is not internal; UINT32_MAX without frames.
 */
uint32_t trace_line(const struct trace *trace, uint32_t stack);

/* Up to `most` frames worth showing, innermost first, trace_line() among them; how many. */
size_t trace_lines(const struct trace *trace, uint32_t stack, uint32_t *frames, size_t most);

/* "Net.forward (train.py:12)", "decode<...> (libdecode.so)", "0x1a2b in libx.so"; cut to size. */
void trace_frame_text(const struct trace *trace, uint32_t frame, char *to, size_t size);

/* A site's name; where rows are sites, the line of that of its stacks which holds most. */
void trace_site_text(const struct trace *trace, uint32_t site, char *to, size_t size);

/* A name that stands for no code: "[not recorded]", a pool's growth. */
bool trace_frame_named(const struct trace_frame *frame);

/* --- the reader's choice of stacks and rows: trace_choice.c --- */

enum trace_stacks { TRACE_STACKS_MERGED, TRACE_STACKS_NATIVE, TRACE_STACKS_PYTHON };

/*
 * What stacks are put together by. Line, function and module are of the same frame, that of
 * trace_line(), ever more coarsely; a stack without frames has a name that says so.
 */
enum trace_by {
#define BY(id, name, title) TRACE_BY_##id,
#include "analyse/trace/trace_by.def"
#undef BY
	TRACE_BYS
};

/* "line"; "Lines" for a heading. */
const char *trace_by_name(enum trace_by by);
const char *trace_by_title(enum trace_by by);

/* Each stack's row, and the rows, in the order in which stacks come. */
struct trace_keys {
	uint32_t *of; /* by stack */
	struct trace_key {
		const char *name;
	} * keys;
	size_t count;
};

/* The memory is the trace's. 0 or -errno. */
int trace_keys_find(struct trace_keys *keys, struct trace *trace, enum trace_by by);

/*
 * Makes stacks[] hold the frames of one kind only, and sites[] rows of `by`: what reads those
 * follows. Stacks without a frame of the kind get one that says so. To be called once, behind
 * trace_open(); sums of sites come from the figures of stacks then. 0 or -errno.
 */
int trace_choose(struct trace *trace, enum trace_stacks stacks, enum trace_by by);

/* Makes sites[] anew, one for each key and space, with the sums of their stacks: 0 or -errno. */
struct trace_place {
	const char *name; /* NULL: the stack is of no site */
	const char *space;
	uint64_t key;
};
int trace_set_sites(struct trace *trace, const struct trace_place *places);

/* Do stacks have figures? Traces of memtrace before 1.0 have none. */
bool trace_has_figures(const struct trace *trace);

#endif
