/*
 * Parses the HTTP/1 requests that the server for Prometheus receives, and checks their Host.
 *
 * The owner of a web page can point the page's host name at this machine (DNS rebinding): the
 * browser would then let the page read the server's answers. So a host name in a request must be
 * one of this machine's own names. An IP address is accepted, since it cannot be pointed elsewhere,
 * and so is a request without Host: browsers always send Host.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Parses a request of `length` bytes and a NUL, and overwrites it. Returns NULL if the page shall
 * be sent (for a HEAD request, *head is set), else the HTTP status of the refusal. `names` are the
 * names of this machine, ended by NULL.
 */
const char *top_request_read(char *text, size_t length, const char *const *names, bool *head);

#define TOP_REQUEST_BAD "400 Bad Request"
#define TOP_REQUEST_HOST "421 Misdirected Request"
