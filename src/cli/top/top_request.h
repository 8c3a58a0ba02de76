/*
 * What a client of top_server.c asks, as HTTP/1 has it.
 *
 * A page of the web may have its own name lead to this machine (DNS rebinding) and then read what
 * the browser fetches from there: so a request must name a host that is known to be this one. An
 * address cannot be made to lead elsewhere, and who names no host is no browser.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads a request in place; it ends with an empty line and a NUL. NULL when it is to be given
 * the page (without its body when *head), else the status to be refused with. `names` are this
 * host's, ended by NULL.
 */
const char *top_request_read(char *text, size_t length, const char *const *names, bool *head);

#define TOP_REQUEST_BAD "400 Bad Request"
#define TOP_REQUEST_HOST "421 Misdirected Request"
