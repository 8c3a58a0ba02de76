/* What NVTX's core (nvtx.c), its texts (nvtx_names.c) and its payloads (nvtx_payload.c) share. */
#ifndef CAPTURE_NVTX_NVTX_PARTS_H
#define CAPTURE_NVTX_NVTX_PARTS_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

/* As NVTX's functions of these names, with the texts at hand; `domain` is what keep gave, or NULL.
 */
void nvtx_mark(const char *domain, const char *name);
int nvtx_push(const char *domain, const char *name);
int nvtx_pop(const char *domain);
uint64_t nvtx_start(const char *domain, const char *name);
void nvtx_end(const char *domain, uint64_t range);

/*
 * A copy that lives as long as the process, "" for NULL; NULL without memory. NVTX's handles of
 * strings and domains are such texts.
 */
const char *nvtx_keep(const char *text);
const char *nvtx_keep_wide(const wchar_t *text); /* cut at RECORD_NAME */

/* Wide characters as UTF-8, "" for NULL; what is no character becomes one that says so. */
void nvtx_narrow(char *to, size_t size, const wchar_t *from);

/* A domain's categories; a later name for the same one holds from then on. */
void nvtx_name_category(const char *domain, uint32_t id, const char *name);

/* The name, or else its digits in `number`. */
const char *nvtx_category(const char *domain, uint32_t id, char number[24]);

#endif
