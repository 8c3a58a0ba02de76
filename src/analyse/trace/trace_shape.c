/*
 * The rows of memtrace/1: which key of the document is which member of struct trace.
 *
 * One table for one document: each shape stands in front of the first that has it as a member.
 */
#include "analyse/trace/trace_shape.h"

#include <string.h>

#include "analyse/trace/trace.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))
#define ROW(type, kind, member)                                                     \
	{                                                                           \
#member, SHAPE_##kind, offsetof(struct type, member), 0, NULL, NULL \
	}
#define ROW_AS(type, kind, key, member)                                         \
	{                                                                       \
		key, SHAPE_##kind, offsetof(struct type, member), 0, NULL, NULL \
	}
#define ROW_WORD(type, member, words)                                              \
	{                                                                          \
#member, SHAPE_WORD, offsetof(struct type, member), 0, NULL, words \
	}
#define ROW_OBJECT(type, member, shape)                                                 \
	{                                                                               \
#member, SHAPE_OBJECT, offsetof(struct type, member), 0, &(shape), NULL \
	}
#define ROW_MANY(type, kind, member, shape)                            \
	{                                                              \
#member, SHAPE_##kind, offsetof(struct type, member),  \
			offsetof(struct type, member##_n), shape, NULL \
	}
#define SHAPE(name, type)                                                            \
	static const struct shape name##_shape = { sizeof(struct type), name##_rows, \
						   COUNT(name##_rows) }

static const char *const exits[] = { "exit", "running", "unfinished", NULL };
static const char *const metrics[] = { "allocated", "reserved", "used", NULL };
static const char *const languages[] = { "native", "python", NULL };

static const struct shape_row process_rows[] = {
	ROW(trace_process, U64, pid),         ROW(trace_process, U64, ppid),
	ROW(trace_process, TEXT, host),       ROW(trace_process, U64, rank),
	ROW(trace_process, U64, world_size),  ROW_MANY(trace_process, TEXTS, command, NULL),
	ROW(trace_process, TEXT, cwd),        ROW(trace_process, TEXT, start_time),
	ROW(trace_process, U64, start_ticks), ROW(trace_process, U64, duration_ns),
	ROW_WORD(trace_process, exit, exits), ROW(trace_process, OPTIONAL, status),
	ROW(trace_process, OPTIONAL, signal), ROW(trace_process, OPTIONAL, local_rank),
};
SHAPE(process, trace_process);

static const struct shape_row card_rows[] = {
	ROW(trace_card, INT, device),
	ROW(trace_card, TEXT, name),
	ROW(trace_card, TEXT, uuid),
	ROW(trace_card, OPTIONAL, total_bytes),
};
SHAPE(card, trace_card);

static const struct shape_row environment_rows[] = {
	ROW(trace_environment, TEXT, memtrace),
	ROW(trace_environment, U64, cuda_driver),
	ROW(trace_environment, U64, cuda_runtime),
	ROW(trace_environment, TEXT, torch),
	ROW(trace_environment, TEXT, python),
	ROW_MANY(trace_environment, PAIRS, settings, NULL),
	ROW_MANY(trace_environment, LIST, devices, &card_shape),
};
SHAPE(environment, trace_environment);

static const struct shape_row capture_rows[] = {
	ROW_MANY(trace_capture, PAIRS, doors, NULL), ROW(trace_capture, TEXT, stacks),
	ROW(trace_capture, U64, events_recorded),    ROW(trace_capture, U64, events_dropped),
	ROW(trace_capture, OPTIONAL, events_since),  ROW(trace_capture, U64, events_filtered),
	ROW(trace_capture, U64, events_stopped),     ROW(trace_capture, U64, sample_bytes),
	ROW(trace_capture, BOOL, truncated),         ROW(trace_capture, BOOL, baseline),
	ROW(trace_capture, OPTIONAL, ns_per_event),  ROW_MANY(trace_capture, TEXTS, notes, NULL),
};
SHAPE(capture, trace_capture);

static const struct shape_row call_rows[] = {
	ROW(trace_call, TEXT, api),     ROW(trace_call, U64, calls),  ROW(trace_call, U64, failed),
	ROW(trace_call, U64, total_ns), ROW(trace_call, U64, max_ns),
};
SHAPE(call, trace_call);

static const struct shape_row record_rows[] = {
	ROW(trace_record, U64, t),        ROW(trace_record, TEXT, op),
	ROW(trace_record, TEXT, memory),  ROW(trace_record, BOOL, mapping),
	ROW(trace_record, BOOL, ordered), ROW(trace_record, INT, device),
	ROW(trace_record, HEX, ptr),      ROW(trace_record, U64, size),
};
SHAPE(record, trace_record);

static const struct shape_row witness_rows[] = {
	ROW(trace_witness, U64, cupti),   ROW(trace_witness, U64, records),
	ROW(trace_witness, U64, matched), ROW(trace_witness, U64, unjudged),
	ROW(trace_witness, U64, lost),    ROW(trace_witness, U64, events_alone),
	ROW(trace_witness, U64, pools),   ROW_MANY(trace_witness, LIST, unmatched, &record_shape),
};
SHAPE(witness, trace_witness);

static const struct shape_row action_rows[] = {
	ROW(trace_action, TEXT, kind),  ROW(trace_action, TEXT, name),
	ROW(trace_action, U64, count),  ROW(trace_action, U64, total_ns),
	ROW(trace_action, U64, max_ns), ROW(trace_action, U64, bytes),
};
SHAPE(action, trace_action);

static const struct shape_row span_rows[] = {
	ROW(trace_span, U64, t),           ROW(trace_span, U64, ns),
	ROW(trace_span, POSITION, action), ROW(trace_span, INT, device),
	ROW(trace_span, U32, thread),      ROW(trace_span, U32, stream),
	ROW(trace_span, U64, bytes),
};
SHAPE(span, trace_span);

static const struct shape_row sum_rows[] = {
	ROW(trace_sum, OPTIONAL, peak_bytes),
	ROW(trace_sum, OPTIONAL, peak_t),
	ROW(trace_sum, OPTIONAL, exit_bytes),
};
SHAPE(sum, trace_sum);

static const struct shape_row explained_rows[] = {
	ROW(trace_explained, OPTIONAL, reserved_bytes),
	ROW(trace_explained, I64, rounding_bytes),
	ROW(trace_explained, I64, named_bytes),
	ROW(trace_explained, I64, residual_bytes),
};
SHAPE(explained, trace_explained);

static const struct shape_row used_sum_rows[] = {
	ROW(trace_sum, OPTIONAL, peak_bytes),
	ROW(trace_sum, OPTIONAL, peak_t),
	ROW(trace_sum, OPTIONAL, exit_bytes),
	ROW(trace_sum, TEXT, source),
	ROW(trace_sum, U64, samples),
	ROW_OBJECT(trace_sum, at_peak, explained_shape),
	ROW_OBJECT(trace_sum, at_exit, explained_shape),
	ROW(trace_sum, I64, residual_min_bytes),
	ROW(trace_sum, I64, residual_max_bytes),
};
SHAPE(used_sum, trace_sum);

static const struct shape_row name_rows[] = {
	ROW(trace_name, TEXT, name), ROW(trace_name, TEXT, kind),
	ROW(trace_name, I64, bytes), ROW(trace_name, I64, at_used_peak_bytes),
	ROW(trace_name, U64, steps),
};
SHAPE(name, trace_name);

static const struct shape_row at_used_rows[] = {
	ROW(trace_at_used, U64, allocated_bytes),
	ROW(trace_at_used, U64, reserved_bytes),
};
SHAPE(at_used, trace_at_used);

static const struct shape_row used_rows[] = {
	ROW(trace_used, U64, t),          ROW(trace_used, INT, device),
	ROW(trace_used, I64, bytes),      ROW(trace_used, TEXT, name),
	ROW(trace_used, TEXT, kind),      ROW(trace_used, TEXT, api),
	ROW(trace_used, POSITION, stack), ROW(trace_used, U64, thread),
	ROW(trace_used, U64, used),       ROW(trace_used, U64, reserved),
	ROW(trace_used, I64, rounding),   ROW(trace_used, I64, named),
	ROW(trace_used, I64, residual),
};
SHAPE(used, trace_used);

static const struct shape_row part_rows[] = {
	ROW_AS(trace_part, TEXT, "pool", name),
	ROW_AS(trace_part, TEXT, "owner", name),
	ROW_OBJECT(trace_part, allocated, sum_shape),
	ROW_OBJECT(trace_part, reserved, sum_shape),
	ROW_OBJECT(trace_part, at_used_peak, at_used_shape),
	ROW(trace_part, U64, allocations),
	ROW(trace_part, U64, frees),
};
SHAPE(part, trace_part);

static const struct shape_row category_rows[] = {
	ROW(trace_category, TEXT, category),
	ROW(trace_category, OPTIONAL, peak_bytes),
	ROW(trace_category, OPTIONAL, exit_bytes),
};
SHAPE(category, trace_category);

static const struct shape_row device_rows[] = {
	ROW(trace_device, INT, device),
	ROW(trace_device, TEXT, name),
	ROW(trace_device, OPTIONAL, total_bytes),
	ROW_OBJECT(trace_device, allocated, sum_shape),
	ROW_OBJECT(trace_device, reserved, sum_shape),
	ROW_OBJECT(trace_device, used, used_sum_shape),
	ROW(trace_device, U64, allocations),
	ROW(trace_device, U64, frees),
	ROW(trace_device, U64, ooms),
	ROW(trace_device, U64, retries),
	ROW_MANY(trace_device, LIST, named, &name_shape),
	ROW_MANY(trace_device, LIST, pools, &part_shape),
	ROW_MANY(trace_device, LIST, owners, &part_shape),
	ROW_MANY(trace_device, LIST, categories, &category_shape),
};
SHAPE(device, trace_device);

static const struct shape_row space_rows[] = {
	ROW(trace_space, TEXT, space),
	ROW_OBJECT(trace_space, allocated, sum_shape),
	ROW(trace_space, U64, allocations),
	ROW(trace_space, U64, frees),
	ROW_MANY(trace_space, LIST, categories, &category_shape),
};
SHAPE(space, trace_space);

static const struct shape_row summary_rows[] = {
	{ "devices", SHAPE_LIST, offsetof(struct trace, summary.devices),
	  offsetof(struct trace, summary.devices_n), &device_shape, NULL },
	{ "spaces", SHAPE_LIST, offsetof(struct trace, summary.spaces),
	  offsetof(struct trace, summary.spaces_n), &space_shape, NULL },
};
static const struct shape summary_shape = { 0, summary_rows, COUNT(summary_rows) };

static const struct shape_row share_rows[] = {
	ROW(trace_share, POSITION, stack),
	ROW(trace_share, U64, bytes),
	ROW(trace_share, U64, count),
	ROW(trace_share, U64, estimated_bytes),
};
SHAPE(share, trace_share);

static const struct shape_row peak_rows[] = {
	ROW(trace_peak, INT, device),          ROW(trace_peak, TEXT, pool),
	ROW_WORD(trace_peak, metric, metrics), ROW(trace_peak, U64, t),
	ROW(trace_peak, U64, bytes),           ROW_MANY(trace_peak, LIST, stacks, &share_shape),
};
SHAPE(peak, trace_peak);

static const struct shape_row oom_pool_rows[] = {
	ROW(trace_oom_pool, TEXT, pool),
	ROW(trace_oom_pool, U64, reserved_bytes),
	ROW(trace_oom_pool, U64, allocated_bytes),
	ROW(trace_oom_pool, U64, largest_free_bytes),
	ROW(trace_oom_pool, U64, free_segments_bytes),
	ROW(trace_oom_pool, U64, gaps_bytes),
	ROW(trace_oom_pool, U64, gaps),
};
SHAPE(oom_pool, trace_oom_pool);

static const struct shape_row oom_holder_rows[] = {
	ROW(trace_oom_holder, TEXT, holder),
	ROW(trace_oom_holder, BOOL, pool),
	ROW(trace_oom_holder, U64, bytes),
};
SHAPE(oom_holder, trace_oom_holder);

static const struct shape_row oom_advice_rows[] = {
	ROW(trace_oom_advice, TEXT, rule),
	ROW(trace_oom_advice, TEXT, text),
	ROW(trace_oom_advice, U64, bytes),
};
SHAPE(oom_advice, trace_oom_advice);

static const struct shape_row oom_rows[] = {
	ROW(trace_oom, U64, seq),
	ROW(trace_oom, U64, t),
	ROW(trace_oom, INT, device),
	ROW(trace_oom, TEXT, space),
	ROW(trace_oom, TEXT, pool),
	ROW(trace_oom, TEXT, api),
	ROW(trace_oom, U64, thread),
	ROW(trace_oom, POSITION, stack),
	ROW(trace_oom, U64, size),
	ROW(trace_oom, OPTIONAL, refused_bytes),
	ROW(trace_oom, OPTIONAL, free_bytes),
	ROW(trace_oom, OPTIONAL, total_bytes),
	ROW(trace_oom, OPTIONAL, others_bytes),
	ROW(trace_oom, OPTIONAL, limit_min_bytes),
	ROW(trace_oom, OPTIONAL, limit_max_bytes),
	ROW(trace_oom, OPTIONAL, allocated),
	ROW(trace_oom, OPTIONAL, reserved),
	ROW(trace_oom, OPTIONAL, cached),
	ROW(trace_oom, TEXT, reason),
	ROW(trace_oom, BOOL, survived),
	ROW(trace_oom, U64, allocations_after),
	ROW_MANY(trace_oom, LIST, pools, &oom_pool_shape),
	ROW_MANY(trace_oom, LIST, holders, &oom_holder_shape),
	ROW_MANY(trace_oom, LIST, stacks, &share_shape),
	ROW(trace_oom, OPTIONAL, unknown_bytes),
	ROW_MANY(trace_oom, LIST, advice, &oom_advice_shape),
	ROW_MANY(trace_oom, TEXTS, text, NULL),
};
SHAPE(oom, trace_oom);

static const struct shape_row module_rows[] = {
	ROW(trace_module, TEXT, path),
	ROW(trace_module, TEXT, build_id),
	ROW(trace_module, HEX, base),
};
SHAPE(module, trace_module);

static const struct shape_row frame_rows[] = {
	ROW_WORD(trace_frame, language, languages),
	ROW(trace_frame, TEXT, function),
	ROW(trace_frame, TEXT, file),
	ROW(trace_frame, U32, line),
	ROW(trace_frame, TEXT, symbol),
	ROW(trace_frame, POSITION, module),
	ROW(trace_frame, HEX, offset),
};
SHAPE(frame, trace_frame);

static const struct shape_row stack_rows[] = {
	ROW_MANY(trace_stack, U32S, frames, NULL),
	ROW_MANY(trace_stack, U32S, entries, NULL),
	ROW(trace_stack, TEXT, node),
	ROW(trace_stack, TEXT, via),
	ROW(trace_stack, POSITION, via_stack),
	ROW(trace_stack, TEXT, owner),
	ROW(trace_stack, U64, allocations),
	ROW(trace_stack, U64, bytes),
	ROW(trace_stack, U64, frees),
	ROW(trace_stack, U64, freed_bytes),
	ROW(trace_stack, U64, frees_here),
	ROW(trace_stack, U64, freed_here_bytes),
	ROW(trace_stack, U64, live_bytes),
	ROW(trace_stack, U64, live_count),
	ROW(trace_stack, U64, peak_bytes),
	ROW(trace_stack, U64, peak_count),
	ROW(trace_stack, U64, estimated_allocations),
	ROW(trace_stack, U64, estimated_bytes),
	ROW(trace_stack, U64, estimated_live_bytes),
	ROW(trace_stack, U64, estimated_peak_bytes),
	ROW(trace_stack, OPTIONAL, lifetime_min_ns),
	ROW(trace_stack, OPTIONAL, lifetime_max_ns),
};
SHAPE(stack, trace_stack);

static const struct shape_row thread_rows[] = {
	ROW(trace_thread, U64, thread),
	ROW(trace_thread, TEXT, name),
	ROW(trace_thread, BOOL, main),
	ROW(trace_thread, U64, t),
};
SHAPE(thread, trace_thread);

static const struct shape_row site_rows[] = {
	ROW(trace_site, TEXT, site),
	ROW(trace_site, TEXT, space),
	ROW_MANY(trace_site, U32S, stacks, NULL),
	ROW(trace_site, U64, allocations),
	ROW(trace_site, U64, frees),
	ROW(trace_site, U64, bytes),
	ROW(trace_site, U64, live_bytes),
	ROW(trace_site, U64, peak_bytes),
	ROW(trace_site, U64, estimated_allocations),
	ROW(trace_site, U64, estimated_bytes),
	ROW(trace_site, U64, estimated_live_bytes),
	ROW(trace_site, U64, estimated_peak_bytes),
	ROW(trace_site, OPTIONAL, lifetime_min_ns),
	ROW(trace_site, OPTIONAL, lifetime_max_ns),
};
SHAPE(site, trace_site);

static const struct shape_row phase_sums_rows[] = {
	ROW(trace_phase_sums, OPTIONAL, start_bytes),
	ROW(trace_phase_sums, OPTIONAL, end_bytes),
	ROW(trace_phase_sums, OPTIONAL, peak_bytes),
};
SHAPE(phase_sums, trace_phase_sums);

static const struct shape_row phase_count_rows[] = {
	ROW(trace_phase_count, OPTIONAL, bytes),
	ROW(trace_phase_count, OPTIONAL, count),
};
SHAPE(phase_count, trace_phase_count);

static const struct shape_row phase_device_rows[] = {
	ROW(trace_phase_device, INT, device),
	ROW_OBJECT(trace_phase_device, allocated, phase_sums_shape),
	ROW_OBJECT(trace_phase_device, reserved, phase_sums_shape),
	ROW_OBJECT(trace_phase_device, born, phase_count_shape),
	ROW_OBJECT(trace_phase_device, freed, phase_count_shape),
	ROW_OBJECT(trace_phase_device, outliving, phase_count_shape),
};
SHAPE(phase_device, trace_phase_device);

static const struct shape_row phase_rows[] = {
	ROW(trace_phase, TEXT, name),
	ROW(trace_phase, TEXT, domain),
	ROW(trace_phase, U64, thread),
	ROW(trace_phase, U64, start),
	ROW(trace_phase, OPTIONAL, end),
	ROW_OBJECT(trace_phase, allocated, phase_sums_shape),
	ROW_OBJECT(trace_phase, reserved, phase_sums_shape),
	ROW(trace_phase, TEXT, category),
	ROW(trace_phase, TEXT, color),
	ROW(trace_phase, VALUE, payload),
	ROW_OBJECT(trace_phase, born, phase_count_shape),
	ROW_OBJECT(trace_phase, freed, phase_count_shape),
	ROW_OBJECT(trace_phase, outliving, phase_count_shape),
	ROW_MANY(trace_phase, LIST, devices, &phase_device_shape),
};
SHAPE(phase, trace_phase);

static const struct shape_row curve_rows[] = {
	ROW(trace_curve, INT, device),
	ROW(trace_curve, TEXT, pool),
	ROW_MANY(trace_curve, U64S, t, NULL),
	ROW_MANY(trace_curve, U64S, allocated, NULL),
	ROW_MANY(trace_curve, U64S, reserved, NULL),
	ROW_MANY(trace_curve, U64S, used, NULL),
};
SHAPE(curve, trace_curve);

static const struct shape_row trace_rows[] = {
	ROW(trace, TEXT, schema),
	ROW_OBJECT(trace, process, process_shape),
	ROW_OBJECT(trace, environment, environment_shape),
	ROW_OBJECT(trace, capture, capture_shape),
	ROW_MANY(trace, LIST, calls, &call_shape),
	ROW_OBJECT(trace, witness, witness_shape),
	ROW_MANY(trace, LIST, actions, &action_shape),
	ROW(trace, U64, spans_dropped),
	ROW_MANY(trace, LIST, spans, &span_shape),
	ROW_MANY(trace, LIST, used, &used_shape),
	{ "summary", SHAPE_OBJECT, 0, 0, &summary_shape, NULL },
	ROW_MANY(trace, LIST, peaks, &peak_shape),
	ROW_MANY(trace, LIST, ooms, &oom_shape),
	ROW_MANY(trace, LIST, modules, &module_shape),
	ROW_MANY(trace, LIST, frames, &frame_shape),
	ROW_MANY(trace, LIST, stacks, &stack_shape),
	ROW_MANY(trace, LIST, threads, &thread_shape),
	ROW_MANY(trace, LIST, sites, &site_shape),
	ROW_MANY(trace, LIST, phases, &phase_shape),
	ROW_MANY(trace, LIST, timeline, &curve_shape),
};

const struct shape shape_trace = { sizeof(struct trace), trace_rows, COUNT(trace_rows) };

const struct shape_row *shape_member(const char *key)
{
	for (size_t i = 0; i < COUNT(trace_rows); i++) {
		if (!strcmp(trace_rows[i].key, key))
			return &trace_rows[i];
	}
	return NULL;
}
