/*
 * ENet as one end of a measurement: enet ROLE WORK ADDRESS SIZE COUNT. It prints that it
 * is ready, answers each order that it reads with a line, and ends with its input. See
 * end.go for what the orders mean.
 */
#include <arpa/inet.h>
#include <enet/enet.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { PEERS = 4095, CHANNELS = 1, SETTLE_MS = 15000, QUEUE = 1 << 20, HEAD = 6, TAIL = 4, LEAST = HEAD + TAIL };
enum { BUCKET_BITS = 5, BUCKETS = 36 << BUCKET_BITS };

static int64_t messages, bytes, sent;
static int size, done, halted;
static const char *failure = "";
static uint32_t latencies[BUCKETS];

static int64_t now_ns(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t cpu_ns(void) {
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return ((int64_t)u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 + ((int64_t)u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

static void latency(int64_t ns) {
	uint64_t v = ns < 0 ? 0 : (uint64_t)ns;
	int b = (int)v;
	if (v >= 1 << BUCKET_BITS) {
		int shift = 63 - __builtin_clzll(v) - BUCKET_BITS;
		b = ((shift + 1) << BUCKET_BITS) + (int)((v >> shift) & ((1 << BUCKET_BITS) - 1));
		if (b >= BUCKETS)
			b = BUCKETS - 1;
	}
	latencies[b]++;
}

static void answer(void) {
	int last = BUCKETS - 1;
	printf("{\"At\":%lld,\"CPU\":%lld,\"Messages\":%lld,\"Bytes\":%lld,\"Sent\":%lld,\"Error\":\"%s\",\"Latencies\":[", (long long)now_ns(),
	       (long long)cpu_ns(), (long long)messages, (long long)bytes, (long long)sent, failure);
	while (last >= 0 && latencies[last] == 0)
		last--;
	for (int i = 0; i <= last; i++)
		printf(i ? ",%u" : "%u", latencies[i]);
	printf("]}\n");
	fflush(stdout);
}

static void put32(uint8_t *b, uint32_t v) {
	v = htonl(v);
	memcpy(b, &v, 4);
}

static uint32_t get32(const uint8_t *b) {
	uint32_t v;
	memcpy(&v, b, 4);
	return ntohl(v);
}

static void compose(uint8_t *b, uint32_t number, int last) {
	b[0] = 0xfe;
	b[1] = last;
	put32(b + 2, number);
	put32(b + size - TAIL, ~number);
}

/* check looks at a message as message.go does, but for its filling: here each byte is that of its place. */
static void check(const uint8_t *b, size_t n, uint32_t number) {
	if (n != (size_t)size || b[0] != 0xfe || get32(b + 2) != number || get32(b + size - TAIL) != ~number) {
		failure = "corruption: a message came that was not the next one";
		return;
	}
	if (number % 16 == 9)
		for (int i = HEAD; i < size - TAIL; i++)
			if (b[i] != (uint8_t)(i * 7)) {
				failure = "corruption: a message came with other bytes than it was sent with";
				return;
			}
	done = b[1];
}

/* read_order reads an order if there is one, and returns its first letter: look, stop, settle; 0 if there is none. */
static int read_order(long long *expect) {
	static char line[4096];
	static size_t have;
	struct pollfd p = {0, POLLIN, 0};
	if (!memchr(line, '\n', have)) {
		if (poll(&p, 1, 0) <= 0)
			return 0;
		ssize_t n = read(0, line + have, sizeof line - 1 - have);
		if (n <= 0)
			exit(0);
		have += n;
	}
	char *end = memchr(line, '\n', have);
	if (!end)
		return 0;
	*end = 0;
	int what = strstr(line, "\"look\"") ? 'l' : strstr(line, "\"stop\"") ? 'p' : 's';
	char *e = strstr(line, "\"Expect\":");
	*expect = e ? atoll(e + 9) : 0;
	have -= end + 1 - line;
	memmove(line, end + 1, have);
	return what;
}

static void server(const char *work) {
	ENetAddress a;
	enet_address_set_host(&a, "127.0.0.1");
	a.port = ENET_PORT_ANY;
	ENetHost *h = enet_host_create(&a, PEERS, CHANNELS, 0, 0);
	if (!h || enet_socket_get_address(h->socket, &a) < 0) {
		printf("{\"Error\":\"enet_host_create\"}\n");
		exit(0);
	}
	enet_socket_set_option(h->socket, ENET_SOCKOPT_RCVBUF, 4 << 20);
	printf("{\"Address\":\"127.0.0.1:%d\"}\n", a.port);
	fflush(stdout);
	int ping = !strcmp(work, "ping"), bulk = !strcmp(work, "bulk");
	int64_t until = 0;
	long long expect = 0;
	for (;;) {
		ENetEvent ev;
		int r = enet_host_service(h, &ev, 1);
		for (; r > 0; r = enet_host_check_events(h, &ev)) {
			if (ev.type == ENET_EVENT_TYPE_RECEIVE) {
				if (bulk)
					check(ev.packet->data, ev.packet->dataLength, (uint32_t)messages);
				messages++;
				bytes += ev.packet->dataLength;
				if (ping) {
					enet_peer_send(ev.peer, 0, enet_packet_create(ev.packet->data, ev.packet->dataLength, ENET_PACKET_FLAG_RELIABLE));
					enet_host_flush(h);
				}
				enet_packet_destroy(ev.packet);
			}
		}
		if (until) {
			if (*failure || !bulk || messages >= expect || now_ns() > until) {
				if (bulk && !*failure && (messages != expect || !done))
					failure = "messages did not come";
				answer();
				until = 0;
			}
			continue;
		}
		switch (read_order(&expect)) {
		case 'l':
		case 'p':
			answer();
			break;
		case 's':
			until = now_ns() + SETTLE_MS * 1000000LL;
		}
	}
}

static ENetHost *open_client(int peers) {
	ENetHost *h = enet_host_create(NULL, peers, CHANNELS, 0, 0);
	if (!h) {
		printf("{\"Error\":\"enet_host_create\"}\n");
		exit(0);
	}
	return h;
}

static ENetPeer *connect_to(ENetHost *h, const ENetAddress *a) {
	ENetEvent ev;
	ENetPeer *p = enet_host_connect(h, a, CHANNELS, 0);
	if (!p || enet_host_service(h, &ev, 5000) <= 0 || ev.type != ENET_EVENT_TYPE_CONNECT) {
		printf("{\"Error\":\"enet_host_connect\"}\n");
		exit(0);
	}
	return p;
}

/* waiting is the bytes that were sent and are not acknowledged, as far as ENet tells. */
static size_t waiting(ENetPeer *p) { return p->reliableDataInTransit + enet_list_size(&p->outgoingCommands) * (size_t)(size < 1400 ? size : 1400); }

static void bulk_client(const ENetAddress *a) {
	ENetHost *h = open_client(1);
	enet_socket_set_option(h->socket, ENET_SOCKOPT_RCVBUF, 4 << 20);
	ENetPeer *p = connect_to(h, a);
	printf("{}\n");
	fflush(stdout);
	uint8_t *m = malloc(size);
	for (int i = 0; i < size; i++)
		m[i] = (uint8_t)(i * 7);
	int stopping = 0, finished = 0;
	for (;;) {
		ENetEvent ev;
		/* ENet walks its whole queue for many things: a short one is what it does best with. */
		for (int i = 0; i < 256 && !finished && (i == 0 || (size_t)i * size < QUEUE / 4); i++) {
			if (enet_list_size(&p->outgoingCommands) > 512 || waiting(p) > QUEUE)
				break;
			compose(m, (uint32_t)sent, stopping);
			if (enet_peer_send(p, 0, enet_packet_create(m, size, ENET_PACKET_FLAG_RELIABLE)) < 0)
				failure = "enet_peer_send";
			sent++;
			finished = stopping;
		}
		int full = finished || enet_list_size(&p->outgoingCommands) > 512 || waiting(p) > QUEUE;
		int r = enet_host_service(h, &ev, full ? 1 : 0);
		for (; r > 0; r = enet_host_check_events(h, &ev))
			if (ev.type == ENET_EVENT_TYPE_DISCONNECT)
				failure = "the connection was lost";
		if (finished && !halted) {
			halted = 1;
			answer();
		}
		long long expect;
		switch (read_order(&expect)) {
		case 'l':
		case 's':
			answer();
			break;
		case 'p':
			stopping = 1;
		}
	}
}

static void ping_client(const ENetAddress *a) {
	ENetHost *h = open_client(1);
	ENetPeer *p = connect_to(h, a);
	printf("{}\n");
	fflush(stdout);
	uint8_t *m = calloc(1, size);
	m[0] = 0xfe;
	for (;;) {
		ENetEvent ev;
		put32(m + 2, (uint32_t)messages);
		int64_t began = now_ns();
		enet_peer_send(p, 0, enet_packet_create(m, size, ENET_PACKET_FLAG_RELIABLE));
		do {
			if (enet_host_service(h, &ev, 5000) <= 0) {
				failure = "an answer did not come";
				break;
			}
		} while (ev.type != ENET_EVENT_TYPE_RECEIVE);
		if (!*failure) {
			latency(now_ns() - began);
			if (ev.packet->dataLength != (size_t)size || get32(ev.packet->data + 2) != (uint32_t)messages)
				failure = "corruption: a wrong answer came";
			enet_packet_destroy(ev.packet);
			messages++;
		}
		long long expect;
		while (*failure || (expect = 0, 1)) {
			if (!read_order(&expect)) {
				if (!*failure)
					break;
				usleep(1000);
				continue;
			}
			answer();
		}
	}
}

/* connect_client connects again and again, count at a time, each with a socket of its own. */
static void connect_client(const ENetAddress *a, int count) {
	ENetHost **hosts = calloc(count, sizeof *hosts);
	for (int i = 0; i < count; i++) {
		hosts[i] = open_client(1);
		enet_host_connect(hosts[i], a, CHANNELS, 0);
		enet_host_flush(hosts[i]);
	}
	printf("{}\n");
	fflush(stdout);
	struct pollfd *fds = calloc(count, sizeof *fds);
	for (;;) {
		for (int i = 0; i < count; i++) {
			fds[i].fd = hosts[i]->socket;
			fds[i].events = POLLIN;
		}
		poll(fds, count, 1);
		for (int i = 0; i < count; i++) {
			ENetEvent ev;
			if (enet_host_service(hosts[i], &ev, 0) <= 0)
				continue;
			if (ev.type == ENET_EVENT_TYPE_CONNECT) {
				messages++;
				enet_peer_disconnect_now(ev.peer, 0);
				enet_host_destroy(hosts[i]);
				hosts[i] = open_client(1);
				enet_host_connect(hosts[i], a, CHANNELS, 0);
				enet_host_flush(hosts[i]);
			}
		}
		long long expect;
		if (read_order(&expect))
			answer();
	}
}

int main(int argc, char **argv) {
	if (argc != 6 || enet_initialize() != 0)
		return 1;
	size = atoi(argv[4]);
	if (!strcmp(argv[1], "server"))
		server(argv[2]);
	char host[64];
	ENetAddress a;
	char *colon = strchr(argv[3], ':');
	if (!colon || colon - argv[3] >= (long)sizeof host)
		return 1;
	memcpy(host, argv[3], colon - argv[3]);
	host[colon - argv[3]] = 0;
	enet_address_set_host(&a, host);
	a.port = atoi(colon + 1);
	if (!strcmp(argv[2], "bulk"))
		bulk_client(&a);
	if (!strcmp(argv[2], "ping"))
		ping_client(&a);
	if (!strcmp(argv[2], "connect"))
		connect_client(&a, atoi(argv[5]));
	return 1;
}
