/* The server for Prometheus: answers GET /metrics in one thread that polls all clients. */
#include "cli/top/top_parts.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "analyse/input/error.h"
#include "base/guest/clock.h"
#include "cli/top/top_request.h"

enum {
	CLIENTS = 16,
	REQUEST = 8192, /* maximum bytes of a request */
	BACKLOG = 16,   /* connections that the kernel queues, see listen(2) */
	HEAD = 256,     /* maximum bytes of an HTTP header */
	NAMES = 4 + 64, /* names of this machine: at most 4 of its own, and 64 from --host */
};

static const uint64_t PATIENCE = 3000000000; /* ns that a client may take to send or to receive */
static const uint64_t PAUSE = 200000000;     /* ns until accept4() is tried again after an error */

struct client {
	int fd;         /* -1 if this entry is free */
	uint64_t since; /* ns of clock_now() at which PATIENCE began */
	char request[REQUEST + 1];
	size_t got;
	char *answer; /* HTTP answer; NULL until the request is complete */
	size_t length, sent;
};

struct server {
	int listener;
	uint64_t paused; /* ns of clock_now() before which no client is accepted */
	const char *names[NAMES + 1];
	char own[256];
	struct client clients[CLIENTS];
	top_page_fn *page;
	void *context;
};

/* --- the address --- */

struct address {
	char host[64], port[8];
};

static bool read_address(const char *text, struct address *address)
{
	const char *colon = strrchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : 0;
	size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;

	if (!colon || !digits || digits > 5 || colon[1 + digits] || strchr(text, '/') ||
	    length >= sizeof(address->host) || atoi(colon + 1) > 65535)
		return false;
	if (length > 1 && text[0] == '[' && colon[-1] == ']') {
		text++;
		length -= 2;
	} else if (memchr(text, ':', length)) {
		return false;
	}
	memcpy(address->host, text, length);
	address->host[length] = '\0';
	memcpy(address->port, colon + 1, digits + 1);
	if (!length)
		memcpy(address->host, "127.0.0.1", sizeof("127.0.0.1"));
	return true;
}

bool top_server_is_address(const char *text)
{
	struct address address;

	return read_address(text, &address);
}

static int open_socket(const struct addrinfo *info)
{
	static const int yes = 1;
	int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) ||
	    bind(fd, info->ai_addr, info->ai_addrlen) || listen(fd, BACKLOG)) {
		int error = -errno;

		close(fd);
		return error;
	}
	return fd;
}

static void say_where(int fd)
{
	struct sockaddr_storage name;
	socklen_t length = sizeof(name);
	char host[64], port[8];
	bool six;

	if (getsockname(fd, (struct sockaddr *)&name, &length) ||
	    getnameinfo((struct sockaddr *)&name, length, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		return;
	six = strchr(host, ':') != NULL;
	fprintf(stderr, "memtrace: top: serving http://%s%s%s:%s/metrics\n", six ? "[" : "", host,
		six ? "]" : "", port);
}

static int open_listener(const char *text, const struct address *address)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE };
	struct addrinfo *list = NULL;
	int error = getaddrinfo(address->host, address->port, &hints, &list);
	int fd = -EINVAL;

	if (error)
		return err("%s: %s", text, gai_strerror(error));
	for (const struct addrinfo *info = list; info && fd < 0; info = info->ai_next)
		fd = open_socket(info);
	freeaddrinfo(list);
	if (fd < 0)
		return err("cannot serve at %s: %s", text, strerror(-fd));
	say_where(fd);
	return fd;
}

/* --- requests --- */

static void hang_up(struct client *client)
{
	close(client->fd);
	free(client->answer);
	*client = (struct client){ .fd = -1 };
}

/* Makes the client's answer of an HTTP header and `body`, which the answer takes over or frees. */
static void answer(struct client *client, const char *status, const char *type, char *body,
		   size_t length, bool with_body)
{
	char head[HEAD];
	int size = snprintf(head, sizeof(head),
			    "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
			    "Connection: close\r\n\r\n",
			    status, type, length);
	char *whole = body ? realloc(body, length + (size_t)size) : NULL;

	if (!whole) {
		free(body);
		hang_up(client);
		return;
	}
	memmove(whole + size, whole, length);
	memcpy(whole, head, (size_t)size);
	client->answer = whole;
	client->length = (size_t)size + (with_body ? length : 0);
	client->since = clock_now();
}

static void refuse_client(struct client *client, const char *status)
{
	char text[200];
	int length = snprintf(text, sizeof(text), "%s%s\n", status,
			      strcmp(status, TOP_REQUEST_HOST)
				      ? ""
				      : ": run memtrace top --host NAME to serve this host name");

	answer(client, status, "text/plain; charset=utf-8", strdup(text), (size_t)length, true);
}

static void respond(struct server *server, struct client *client)
{
	size_t size = 0;
	bool head;
	const char *refused = top_request_read(client->request, client->got, server->names, &head);
	char *page;

	if (refused) {
		refuse_client(client, refused);
		return;
	}
	page = server->page(server->context, &size);
	answer(client, "200 OK", "text/plain; version=0.0.4; charset=utf-8", page, size, !head);
}

/* Receives bytes of a request; once the empty line at its end has arrived, makes the answer. */
static void hear(struct server *server, struct client *client)
{
	ssize_t n = recv(client->fd, client->request + client->got, REQUEST - client->got, 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		hang_up(client);
		return;
	}
	client->got += (size_t)n;
	client->request[client->got] = '\0';
	if (memmem(client->request, client->got, "\r\n\r\n", 4) ||
	    memmem(client->request, client->got, "\n\n", 2))
		respond(server, client);
	else if (client->got == REQUEST)
		refuse_client(client, TOP_REQUEST_BAD);
}

static void answer_client(struct client *client)
{
	char rest[512];
	ssize_t n = send(client->fd, client->answer + client->sent, client->length - client->sent,
			 MSG_NOSIGNAL);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	client->sent += n > 0 ? (size_t)n : 0;
	if (n > 0 && client->sent < client->length)
		return;
	/* Unread bytes would make close() reset the connection, and the answer would be lost. */
	shutdown(client->fd, SHUT_WR);
	while (recv(client->fd, rest, sizeof(rest), 0) > 0)
		;
	hang_up(client);
}

static void welcome(struct server *server)
{
	int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	/* If accept4() lacks a descriptor or memory, it would fail again at once: wait. */
	if (fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
		server->paused = clock_now() + PAUSE;
	for (size_t i = 0; fd >= 0 && i < CLIENTS; i++) {
		if (server->clients[i].fd >= 0)
			continue;
		server->clients[i] = (struct client){ .fd = fd, .since = clock_now() };
		return;
	}
	if (fd >= 0)
		close(fd);
}

/* One round of the server: polls the listener and all clients, and serves those that are ready. */
static int serve(struct server *server)
{
	struct pollfd fds[CLIENTS + 1];
	struct client *who[CLIENTS + 1];
	nfds_t count = 0;
	uint64_t now = clock_now();
	bool paused = now < server->paused;
	int wait;

	for (size_t i = 0; i < CLIENTS; i++) {
		struct client *client = &server->clients[i];

		if (client->fd >= 0 && now - client->since > PATIENCE)
			hang_up(client);
		if (client->fd < 0)
			continue;
		who[count] = client;
		fds[count++] = (struct pollfd){ .fd = client->fd,
						.events = client->answer ? POLLOUT : POLLIN };
	}
	/* With CLIENTS clients connected, the next one waits in the kernel's queue. */
	if (count < CLIENTS && !paused) {
		who[count] = NULL;
		fds[count++] = (struct pollfd){ .fd = server->listener, .events = POLLIN };
	}
	wait = paused ? (int)(PAUSE / 1000000) : count > 1 || who[0] ? 1000 : -1;
	if (poll(fds, count, wait) < 0 && errno != EINTR)
		return err("cannot wait for clients: %s", strerror(errno));
	for (nfds_t i = 0; i < count; i++) {
		if (!fds[i].revents)
			continue;
		if (!who[i])
			welcome(server);
		else if (who[i]->answer)
			answer_client(who[i]);
		else
			hear(server, who[i]);
	}
	return 0;
}

/* Collects the names of this machine: localhost, its host name, the host of the address, --host. */
static void collect_names(struct server *server, const char *bound, const char *const *hosts)
{
	size_t count = 0;

	server->names[count++] = "localhost";
	if (!gethostname(server->own, sizeof(server->own) - 1) && server->own[0])
		server->names[count++] = server->own;
	server->names[count++] = bound;
	while (*hosts && count < NAMES)
		server->names[count++] = *hosts++;
}

int top_server_run(const char *text, const char *const *hosts, top_page_fn *page, void *context)
{
	struct server *server = calloc(1, sizeof(*server));
	struct address address = { "", "" };
	int error = 0;

	if (!server)
		return err("no memory left");
	server->page = page;
	server->context = context;
	read_address(text, &address);
	collect_names(server, address.host, hosts);
	for (size_t i = 0; i < CLIENTS; i++)
		server->clients[i].fd = -1;
	server->listener = open_listener(text, &address);
	if (server->listener < 0) {
		free(server);
		return -EINVAL;
	}
	while (!error)
		error = serve(server);
	for (size_t i = 0; i < CLIENTS; i++) {
		if (server->clients[i].fd >= 0)
			hang_up(&server->clients[i]);
	}
	close(server->listener);
	free(server);
	return error;
}
