#include "cli/top/top_request.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

/* True if the line has only printable ASCII characters, as RFC 9112 requires in a request line. */
static bool is_plain(const char *line)
{
	for (; *line; line++) {
		if (*line < ' ' || *line > '~')
			return false;
	}
	return true;
}

/* Splits a request line, "GET /metrics?x HTTP/1.1", into its three words; false if malformed. */
static bool split(char *line, char *words[3])
{
	words[0] = line;
	for (int i = 1; i < 3; i++) {
		words[i] = strchr(words[i - 1], ' ');
		if (!words[i])
			return false;
		*words[i]++ = '\0';
	}
	return words[0][0] && words[1][0] == '/' && !strchr(words[2], ' ') &&
	       !strncmp(words[2], "HTTP/1.", 7) && (words[2][7] == '0' || words[2][7] == '1') &&
	       !words[2][8];
}

static char *end_line(char *line)
{
	char *end = strchr(line, '\n');
	char *next = end ? end + 1 : line + strlen(line);

	if (end && end > line && end[-1] == '\r')
		end--;
	if (end)
		*end = '\0';
	return next;
}

/* Sets *host to the value of the header Host, NULL if it is missing. False if there are two. */
static bool find_host(char *line, char **host)
{
	*host = NULL;
	while (*line) {
		char *next = end_line(line);

		if (!*line)
			break;
		if (!strncasecmp(line, "host:", 5)) {
			if (*host)
				return false;
			*host = line + 5 + strspn(line + 5, " \t");
			(*host)[strcspn(*host, " \t")] = '\0';
		}
		line = next;
	}
	return true;
}

static bool is_address(char *host)
{
	struct in6_addr address;
	char *end = strchr(host, ']');

	if (host[0] != '[' || !end)
		return inet_pton(AF_INET, host, &address) == 1;
	*end = '\0';
	return inet_pton(AF_INET6, host + 1, &address) == 1;
}

static bool is_known(char *host, const char *const *names)
{
	size_t length;

	if (host[0] != '[')
		host[strcspn(host, ":")] = '\0';
	length = strlen(host);
	if (length && host[length - 1] == '.')
		host[length - 1] = '\0';
	for (; *names; names++) {
		if (!strcasecmp(host, *names))
			return true;
	}
	return is_address(host);
}

const char *top_request_read(char *text, size_t length, const char *const *names, bool *head)
{
	char *words[3];
	char *rest;
	char *host;

	*head = false;
	if (strlen(text) != length)
		return TOP_REQUEST_BAD;
	rest = end_line(text);
	if (!is_plain(text) || !split(text, words) || !find_host(rest, &host))
		return TOP_REQUEST_BAD;
	*head = !strcmp(words[0], "HEAD");
	if (!*head && strcmp(words[0], "GET") != 0)
		return "405 Method Not Allowed";
	if (host && !is_known(host, names))
		return TOP_REQUEST_HOST;
	words[1][strcspn(words[1], "?")] = '\0';
	return strcmp(words[1], "/metrics") != 0 ? "404 Not Found" : NULL;
}
