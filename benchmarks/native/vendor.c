/* A vendor that is not the bottleneck: it answers every request with bytes made beforehand.
 *
 *     vendor PORT FOLDER
 *
 * FOLDER holds one file for each mode, named after the first segment of the path that it answers.
 * A file is a 32-bit pause, then pieces, each a 32-bit length and its bytes, in the byte order of
 * the machine. The pause is in microseconds between two pieces: 0 sends each piece with a write of
 * its own, one behind the other; the first piece is sent at once. One thread, one epoll.
 * It never sleeps, until SIGUSR1 says that it may. A GET is for the list of models, which is empty.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { MODES = 32, PIECES = 1024, HEAD = 16384, READ = 1 << 18, EVENTS = 512 };

typedef struct {
    char name[64];
    uint32_t pause;
    size_t count;
    struct { char *bytes; uint32_t size; } pieces[PIECES];
    struct Connection *first, *last; /* those that wait for their next piece, soonest first */
} Mode;

typedef struct Connection {
    int socket;
    char head[HEAD];
    size_t held;      /* bytes of the head so far */
    uint64_t body;    /* bytes of the request's body that are still to come */
    Mode *mode;       /* of the answer that is being sent */
    size_t piece, sent;
    int is_blocked;   /* waits until the socket takes more */
    uint64_t due;     /* nanoseconds */
    struct Connection *before, *after;
    int is_waiting;
} Connection;

static const char no_models[] = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
                                "content-length: 27\r\n\r\n{\"object\":\"list\",\"data\":[]}";
static Mode models = {.count = 1, .pieces = {{(char *)no_models, sizeof no_models - 1}}};
static Mode modes[MODES];
static size_t mode_count;
static int epoll, timer;
static char scratch[READ];

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void load(const char *folder, const char *name) {
    char path[4096];
    Mode *mode = &modes[mode_count];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file || mode_count == MODES || strlen(name) >= sizeof mode->name) fail(path);
    strcpy(mode->name, name);
    if (fread(&mode->pause, 4, 1, file) != 1) fail(path);
    uint32_t size;
    while (mode->count < PIECES && fread(&size, 4, 1, file) == 1) {
        char *bytes = malloc(size);
        if (!bytes || fread(bytes, 1, size, file) != size) fail(path);
        mode->pieces[mode->count].bytes = bytes;
        mode->pieces[mode->count++].size = size;
    }
    fclose(file);
    mode_count++;
}

static void load_all(const char *folder) {
    DIR *entries = opendir(folder);
    struct dirent *entry;
    if (!entries) fail(folder);
    while ((entry = readdir(entries)))
        if (entry->d_name[0] != '.') load(folder, entry->d_name);
    closedir(entries);
}

static Mode *mode_of(const char *head) {
    if (!strncmp(head, "GET ", 4)) return &models;
    const char *start = strchr(head, '/');
    if (!start++) return NULL;
    size_t length = strcspn(start, "/ ?");
    for (size_t i = 0; i < mode_count; i++)
        if (strlen(modes[i].name) == length && !strncmp(modes[i].name, start, length))
            return &modes[i];
    return NULL;
}

static uint64_t length_of(const char *head) {
    for (const char *line = strstr(head, "\r\n"); line; line = strstr(line + 2, "\r\n"))
        if (!strncasecmp(line + 2, "content-length:", 15))
            return strtoull(line + 17, NULL, 10);
    return 0;
}

static void watch(Connection *c, uint32_t what) {
    struct epoll_event event = {.events = what, .data.ptr = c};
    if (epoll_ctl(epoll, EPOLL_CTL_MOD, c->socket, &event)) fail("epoll_ctl");
}

static void arm(void) {
    uint64_t soonest = 0;
    for (size_t i = 0; i < mode_count; i++)
        if (modes[i].first && (!soonest || modes[i].first->due < soonest))
            soonest = modes[i].first->due;
    struct itimerspec at = {.it_value = {.tv_sec = (time_t)(soonest / 1000000000u),
                                         .tv_nsec = (long)(soonest % 1000000000u)}};
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
}

static void leave(Connection *c) {
    if (!c->is_waiting) return;
    *(c->before ? &c->before->after : &c->mode->first) = c->after;
    *(c->after ? &c->after->before : &c->mode->last) = c->before;
    c->is_waiting = 0;
}

static void wait_for_turn(Connection *c) {
    Mode *mode = c->mode;
    c->due += (uint64_t)mode->pause * 1000;
    c->before = mode->last;
    c->after = NULL;
    *(mode->last ? &mode->last->after : &mode->first) = c;
    mode->last = c;
    c->is_waiting = 1;
}

static void drop(Connection *c) {
    leave(c);
    close(c->socket);
    free(c);
}

/* Send what may be sent now. False when the connection is gone. */
static int answer(Connection *c) {
    Mode *mode = c->mode;
    while (c->piece < mode->count) {
        size_t left = mode->pieces[c->piece].size - c->sent;
        ssize_t done = send(c->socket, mode->pieces[c->piece].bytes + c->sent, left, MSG_NOSIGNAL);
        if (done < 0 && errno == EAGAIN) {
            if (!c->is_blocked) watch(c, EPOLLIN | EPOLLOUT);
            return c->is_blocked = 1;
        }
        if (done < 0) return drop(c), 0;
        c->sent += (size_t)done;
        if ((size_t)done < left) continue;
        c->sent = 0;
        if (++c->piece < mode->count && mode->pause) {
            wait_for_turn(c);
            break;
        }
    }
    if (c->is_blocked) watch(c, EPOLLIN);
    c->is_blocked = 0;
    if (c->piece == mode->count) c->mode = NULL;
    return 1;
}

static int begin(Connection *c) {
    c->mode = mode_of(c->head);
    if (!c->mode) return drop(c), 0;
    c->piece = c->sent = c->held = 0;
    c->due = now();
    return answer(c);
}

/* Take bytes of a request. False when the connection is gone. A client sends its next request
 * only after the whole answer, so nothing follows a body. */
static int take(Connection *c) {
    for (;;) {
        if (c->body) {
            ssize_t got = recv(c->socket, scratch, c->body < READ ? c->body : READ, 0);
            if (got < 0 && errno == EAGAIN) return 1;
            if (got <= 0) return drop(c), 0;
            c->body -= (uint64_t)got;
            if (!c->body) return begin(c);
            continue;
        }
        ssize_t got = recv(c->socket, c->head + c->held, HEAD - 1 - c->held, 0);
        if (got < 0 && errno == EAGAIN) return 1;
        if (got <= 0) return drop(c), 0;
        c->held += (size_t)got;
        c->head[c->held] = 0;
        char *end = strstr(c->head, "\r\n\r\n");
        if (!end) {
            if (c->held == HEAD - 1) return drop(c), 0;
            continue;
        }
        uint64_t whole = (uint64_t)(end + 4 - c->head) + length_of(c->head);
        c->body = whole > c->held ? whole - c->held : 0;
        if (!c->body) return begin(c);
    }
}

static void welcome(int listener) {
    int on = 1, socket;
    while ((socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        Connection *c = calloc(1, sizeof *c);
        if (!c) fail("calloc");
        c->socket = socket;
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event)) fail("epoll_ctl");
    }
}

static void serve_waiting(void) {
    uint64_t count, until = now();
    if (read(timer, &count, sizeof count) < 0 && errno != EAGAIN) fail("timer");
    for (size_t i = 0; i < mode_count; i++)
        while (modes[i].first && modes[i].first->due <= until) {
            Connection *c = modes[i].first;
            leave(c);
            answer(c);
        }
}

static int listen_on(int port) {
    int on = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&place, sizeof place) || listen(listener, 4096))
        fail("listen");
    return listener;
}

static volatile sig_atomic_t patience;

static void may_sleep(int number) {
    (void)number;
    patience = -1;
}

int main(int count, char **words) {
    signal(SIGUSR1, may_sleep);
    if (count != 3) return fprintf(stderr, "usage: vendor PORT FOLDER\n"), 2;
    load_all(words[2]);
    int listener = listen_on(atoi(words[1]));
    epoll = epoll_create1(EPOLL_CLOEXEC);
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    struct epoll_event listening = {.events = EPOLLIN, .data.ptr = &listener};
    struct epoll_event timing = {.events = EPOLLIN, .data.ptr = &timer};
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &listening);
    epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &timing);
    for (;;) {
        struct epoll_event events[EVENTS];
        int ready = epoll_wait(epoll, events, EVENTS, patience);
        if (ready <= 0) { /* Never asleep, so that nobody pays for waking it. */
            sched_yield();
            continue;
        }
        int is_time = 0;
        for (int i = 0; i < ready; i++) {
            void *which = events[i].data.ptr;
            if (which == &listener) welcome(listener);
            else if (which == &timer) is_time = 1;
            else {
                Connection *c = which;
                if (c->mode && c->is_blocked && !(events[i].events & EPOLLIN)) answer(c);
                else if (c->mode && (events[i].events & EPOLLIN)) drop(c); /* left early */
                else take(c);
            }
        }
        /* Last, so that no connection is gone while an event still points to it. */
        if (is_time) serve_waiting();
        arm();
    }
}
