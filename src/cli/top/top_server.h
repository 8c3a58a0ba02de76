/*
 * A server of one page: GET /metrics over HTTP/1.1, for Prometheus, to few clients at a time.
 *
 * Whoever can reach the address may read the page, and nobody can do more than that: requests are
 * bounded in bytes and time, and what is no plain request is answered 400 and hung up on.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The page, in memory from malloc() that the server frees; NULL without memory. */
typedef char *top_page_fn(void *context, size_t *length);

/* Is it an address: ":9400", "0.0.0.0:9400", "[::1]:9400", "localhost:9400"? */
bool top_server_is_address(const char *text);

/*
 * Serves until a signal ends the process: only fails, with -EINVAL and err_text(). Without a host
 * the address is 127.0.0.1, and with port 0 one that is free; what it is is said on stderr.
 * `hosts`, ended by NULL, are names that clients may know this host by beside its own
 * (top_request.h).
 */
int top_server_run(const char *address, const char *const *hosts, top_page_fn *page, void *context);
