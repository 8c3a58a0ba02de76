/*
 * Parses the HTTP/1 requests that the server for Prometheus receives, and checks their Host.
 *
 * The owner of a web page can point the page's host name at this machine (DNS rebinding): the
 * browser would then let the page read the server's answers. So the request must name a host that
 * is known to be this machine. An IP address cannot be pointed elsewhere, and a client that sends
 * no Host is not a browser.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Parses a request of `length` bytes and a NUL, and overwrites it. Returns NULL if the page is the
 * answer (only its HTTP header if *head is set), else the HTTP status of the refusal. `names` are
 * the names of this machine, ended by NULL.
 */
const char *top_request_read(char *text, size_t length, const char *const *names, bool *head);

#define TOP_REQUEST_BAD "400 Bad Request"
#define TOP_REQUEST_HOST "421 Misdirected Request"
