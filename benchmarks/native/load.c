/* Asks the same again and again on many connections and tells how the answers came.
 *
 *     load PORT CONNECTIONS SECONDS ANSWERS REQUEST SPREAD [sleep] [fresh]
 *
 * REQUEST is a file with one whole HTTP/1.1 request. No request is begun after SECONDS, or after
 * ANSWERS of them unless that is 0; those that run are waited for. An answer counts when its
 * status is 200 and its body came to its end, by length or by chunks. Prints one JSON object with
 * times in microseconds. Connections begin one after the other within SPREAD seconds.
 * With ``sleep`` it sleeps while it waits. With ``fresh`` each request has a connection of its own,
 * which is opened when the request begins and counts in its time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEAD = 16384, READ = 1 << 18, EVENTS = 512, MOST_ERRORS = 200 };
enum { IN_HEAD, BY_LENGTH, CHUNK_SIZE, CHUNK_DATA, CHUNK_END, TRAILER, DONE, BROKEN };

typedef struct {
    int socket, state, status, line, is_blocked, is_running, is_last;
    size_t sent, held;
    uint64_t left;
    double begun, first;
    char head[HEAD];
} Connection;

typedef struct {
    double *values;
    size_t count, room;
} Series;

static int epoll, port, bad_status, is_fresh;
static char *request, scratch[READ];
static size_t request_size;
static double until;
static uint64_t begun, most, answers, errors, bytes;
static Series latencies, firsts;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void add(Series *series, double value) {
    if (series->count == series->room) {
        series->room = series->room ? series->room * 2 : 4096;
        series->values = realloc(series->values, series->room * sizeof(double));
        if (!series->values) fail("realloc");
    }
    series->values[series->count++] = value;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double at(Series *series, double share) {
    if (!series->count) return 0;
    return 1e6 * series->values[(size_t)(share * (double)(series->count - 1) + 0.5)];
}

static void connect_again(Connection *c) {
    int on = 1;
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    c->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | (is_fresh ? SOCK_NONBLOCK : 0), 0);
    if (connect(c->socket, (struct sockaddr *)&place, sizeof place) && errno != EINPROGRESS)
        fail("connect");
    setsockopt(c->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(c->socket, F_SETFL, O_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, c->socket, &event)) fail("epoll_ctl");
    c->is_blocked = 0;
}

static void write_on(Connection *c) {
    while (c->sent < request_size) {
        ssize_t done = send(c->socket, request + c->sent, request_size - c->sent, MSG_NOSIGNAL);
        if (done < 0) break; /* a broken connection shows when it is read */
        c->sent += (size_t)done;
    }
    int blocked = c->sent < request_size;
    if (blocked != c->is_blocked) {
        uint32_t what = EPOLLIN | (blocked ? (uint32_t)EPOLLOUT : 0);
        struct epoll_event event = {.events = what, .data.ptr = c};
        epoll_ctl(epoll, EPOLL_CTL_MOD, c->socket, &event);
    }
    c->is_blocked = blocked;
}

static void ask(Connection *c) {
    c->is_running = (!most || begun < most) && now() < until;
    if (!c->is_running) return;
    begun++;
    c->state = IN_HEAD;
    c->sent = c->held = 0;
    c->first = 0;
    c->begun = now();
    if (is_fresh) connect_again(c);
    write_on(c);
}

static void read_head(Connection *c) {
    c->status = c->held > 12 ? atoi(c->head + 9) : 0;
    c->state = BROKEN; /* neither a length nor chunks */
    c->is_last = 0;
    for (char *line = strstr(c->head, "\r\n"); line; line = strstr(line + 2, "\r\n")) {
        if (!strncasecmp(line + 2, "content-length:", 15)) {
            c->left = strtoull(line + 17, NULL, 10);
            c->state = c->left ? BY_LENGTH : DONE;
        }
        if (!strncasecmp(line + 2, "connection: close", 17)) c->is_last = 1;
        if (!strncasecmp(line + 2, "transfer-encoding: chunked", 26)) {
            c->left = 0;
            c->line = 0;
            c->state = CHUNK_SIZE;
        }
    }
}

static int hex(char c) {
    return c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

/* One byte of the lines between chunks. */
static void between(Connection *c, char byte) {
    if (byte == '\r') return;
    if (c->state == CHUNK_END) c->state = CHUNK_SIZE, c->left = 0;
    else if (c->state == TRAILER) {
        if (byte == '\n' && !c->line) c->state = DONE;
        c->line = byte != '\n';
    } else if (byte == '\n') {
        c->state = c->left ? CHUNK_DATA : TRAILER;
        c->line = 0;
    } else if (byte == ';') c->line = 1; /* an extension follows */
    else if (!c->line) c->left = c->left * 16 + (uint64_t)hex(byte);
}

static void read_body(Connection *c, const char *data, size_t size) {
    if (size && !c->first) c->first = now();
    for (size_t i = 0; i < size && c->state < DONE;) {
        if (c->state != BY_LENGTH && c->state != CHUNK_DATA) {
            between(c, data[i++]);
            continue;
        }
        size_t part = size - i < c->left ? size - i : (size_t)c->left;
        i += part;
        if (!(c->left -= part)) c->state = c->state == BY_LENGTH ? DONE : CHUNK_END;
    }
}

static void read_some(Connection *c, const char *data, size_t size) {
    if (c->state != IN_HEAD) {
        read_body(c, data, size);
        return;
    }
    size_t room = HEAD - 1 - c->held, part = size < room ? size : room, before = c->held;
    memcpy(c->head + c->held, data, part);
    c->held += part;
    c->head[c->held] = 0;
    char *end = strstr(c->head, "\r\n\r\n");
    if (!end) {
        if (c->held == HEAD - 1) c->state = BROKEN;
        return;
    }
    size_t used = (size_t)(end + 4 - c->head) - before;
    end[2] = 0;
    read_head(c);
    if (c->state < DONE) read_body(c, data + used, size - used);
}

static void start_over(Connection *c) {
    errors++;
    if (c->state == DONE || c->state == BROKEN) bad_status = c->status;
    close(c->socket);
    if (!is_fresh) connect_again(c);
    ask(c);
}

static void finish(Connection *c) {
    if (c->state != DONE || c->status != 200) {
        start_over(c);
        return;
    }
    double over = now();
    answers++;
    add(&latencies, over - c->begun);
    add(&firsts, (c->first ? c->first : over) - c->begun);
    if (c->is_last || is_fresh) {
        close(c->socket);
        if (!is_fresh) connect_again(c);
    }
    ask(c);
}

static void read_on(Connection *c) {
    ssize_t got = recv(c->socket, scratch, READ, 0);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0 || !c->is_running) {
        if (c->is_running) start_over(c);
        else epoll_ctl(epoll, EPOLL_CTL_DEL, c->socket, NULL);
        return;
    }
    bytes += (uint64_t)got;
    read_some(c, scratch, (size_t)got);
    if (c->state >= DONE) finish(c);
}

static void read_request(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) fail(path);
    fseek(file, 0, SEEK_END);
    request_size = (size_t)ftell(file);
    rewind(file);
    request = malloc(request_size);
    if (!request || fread(request, 1, request_size, file) != request_size) fail(path);
    fclose(file);
}

static void tell(double seconds) {
    qsort(latencies.values, latencies.count, sizeof(double), by_size);
    qsort(firsts.values, firsts.count, sizeof(double), by_size);
    printf("{\"answers\":%llu,\"errors\":%llu,\"badStatus\":%d,\"seconds\":%.6f,\"bytes\":%llu,"
           "\"p50\":%.1f,\"p99\":%.1f,\"first50\":%.1f,\"first99\":%.1f}\n",
           (unsigned long long)answers, (unsigned long long)errors, bad_status, seconds,
           (unsigned long long)bytes, at(&latencies, 0.5), at(&latencies, 0.99),
           at(&firsts, 0.5), at(&firsts, 0.99));
}

int main(int count, char **words) {
    if (count < 7)
        return fprintf(stderr, "usage: load PORT CONNECTIONS SECONDS ANSWERS REQUEST SPREAD [sleep] [fresh]\n"), 2;
    int patience = 0;
    for (int i = 7; i < count; i++) {
        if (!strcmp(words[i], "sleep")) patience = 1000;
        if (!strcmp(words[i], "fresh")) is_fresh = 1;
    }
    double spread = atof(words[6]);
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    port = atoi(words[1]);
    size_t size = (size_t)atoi(words[2]);
    most = strtoull(words[4], NULL, 10);
    read_request(words[5]);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    Connection *all = calloc(size, sizeof *all);
    if (!all) fail("calloc");
    for (size_t i = 0; i < size && !is_fresh; i++) connect_again(&all[i]);
    double start = now();
    until = start + atof(words[3]);
    size_t asking = 0;
    double heard = start;
    while ((asking < size || answers + errors < begun) && errors < MOST_ERRORS) {
        while (asking < size && now() >= start + spread * (double)asking / (double)size)
            ask(&all[asking++]);
        struct epoll_event events[EVENTS];
        int ready = epoll_wait(epoll, events, EVENTS, patience && asking < size ? 1 : patience);
        if (!ready) { /* Never asleep, so that nobody pays for waking it. */
            if (now() - heard > 60) return fprintf(stderr, "no answer for a minute\n"), 1;
            sched_yield();
            continue;
        }
        heard = now();
        for (int i = 0; i < ready; i++) {
            Connection *c = events[i].data.ptr;
            if (c->is_blocked && (events[i].events & EPOLLOUT)) write_on(c);
            if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) read_on(c);
        }
    }
    tell(now() - start);
    return 0;
}
