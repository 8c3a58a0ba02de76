/*
 * Reads the HTTP/1 requests of the clients of top_server.c.
 *
 * A web page can make its own host name lead to this machine (DNS rebinding), and then read the
 * bytes that the browser fetches from here. So a request must name a host that is known to be this
 * one. An address cannot lead elsewhere, and a client that names no host is no browser.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads a request in place; it ends with an empty line and a NUL. Returns NULL when the client gets
 * the page (without its body if *head), else the HTTP status of the refusal. `names` are this
 * host's, ended by NULL.
 */
const char *top_request_read(char *text, size_t length, const char *const *names, bool *head);

#define TOP_REQUEST_BAD "400 Bad Request"
#define TOP_REQUEST_HOST "421 Misdirected Request"
