/* Records NVTX ranges and marks. The functions declared here serve both NVTX's core (nvtx.c) and
 * its extension for payloads (nvtx_payload.c). */
#pragma once

#include <stdint.h>

/* In a forked child: resets the lock that another thread of the parent may have held. */
void nvtx_forked(void);

enum nvtx_message { NVTX_ASCII = 1, NVTX_UNICODE = 2, NVTX_REGISTERED = 3 };

struct nvtx_attributes { /* laid out as nvtxEventAttributes_v2 */
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	const void *message;
};

_Static_assert(sizeof(struct nvtx_attributes) == 48, "the size must be as in NVTX");

/* Attributes with a text and nothing else. */
#define NVTX_MESSAGE(type, text)                                                                \
	&(struct nvtx_attributes)                                                               \
	{                                                                                       \
		.size = sizeof(struct nvtx_attributes), .message_type = type, .message = (text) \
	}

/* Record a mark, or the beginning or end of a range. `domain` is a result of nvtx_keep(), or NULL.
 * The int returned is the range's nesting level, less than 0 if there is none. */
void nvtx_mark(const char *domain, const struct nvtx_attributes *attributes);
int nvtx_push(const char *domain, const struct nvtx_attributes *attributes);
int nvtx_pop(const char *domain);
uint64_t nvtx_start(const char *domain, const struct nvtx_attributes *attributes);
void nvtx_end(const char *domain, uint64_t range);

/* Returns a copy of the text that is never freed, "" for NULL; NULL if memory ran out. NVTX's
 * handles of strings and domains are such copies. */
const char *nvtx_keep(const char *text);
