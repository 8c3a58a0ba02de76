/* Between NVTX's core (nvtx.c) and its payload extension (nvtx_payload.c). */
#ifndef CAPTURE_NVTX_PARTS_H
#define CAPTURE_NVTX_PARTS_H

#include <stdint.h>

/* As NVTX's functions of these names, with the texts at hand; `domain` is what keep gave, or NULL.
 */
void nvtx_mark(const char *domain, const char *name);
int nvtx_push(const char *domain, const char *name);
int nvtx_pop(const char *domain);
uint64_t nvtx_start(const char *domain, const char *name);
void nvtx_end(const char *domain, uint64_t range);

/* A copy that lives as long as the process, "" for NULL; NULL without memory. */
const char *nvtx_keep(const char *text);

#endif
