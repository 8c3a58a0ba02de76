/*
 * The members of a trace before its events: each function fills some of them from a recording.
 */
#pragma once

#include "codec/event.h"
#include "facts/oom/oom.h"
#include "facts/spool_model.h"
#include "facts/trace_rows.h"

struct document_told;

/* schema, process, environment, capture */
void document_head(struct spool_model *recording, enum trace_exit exit);
void document_calls(struct spool_model *recording);
/* cupti_check, actions, spans: only when CUPTI was asked for. */
void document_cupti(struct spool_model *recording);
/* Samples of `used` with which something came or went, in their order. */
void document_used(struct spool_model *recording);
void document_summary(struct spool_model *recording);
/* peaks, and what stacks held in them and at the end */
void document_peaks(struct spool_model *recording);
void document_ooms(struct spool_model *recording, struct document_told *told);
/* modules, frames, stacks, threads */
void document_names(struct spool_model *recording);
void document_timeline(struct spool_model *recording);
