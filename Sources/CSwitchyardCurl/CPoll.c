#if defined(__linux__)

#define _GNU_SOURCE
#include "CPoll.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { MOST_EVENTS = 128 };

struct cpoll {
    int poll;
    int wake;
};

cpoll cpoll_new(void) {
    struct cpoll *made = malloc(sizeof *made);
    if (!made) return NULL;
    made->poll = epoll_create1(EPOLL_CLOEXEC);
    made->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = made->wake};
    if (made->poll < 0 || made->wake < 0 || epoll_ctl(made->poll, EPOLL_CTL_ADD, made->wake, &event) != 0) {
        cpoll_free(made);
        return NULL;
    }
    return made;
}

void cpoll_free(cpoll poll) {
    if (poll->poll >= 0) close(poll->poll);
    if (poll->wake >= 0) close(poll->wake);
    free(poll);
}

void cpoll_watch(cpoll poll, int fd, int events) {
    struct epoll_event event = {.data.fd = fd};
    if (events & CPOLL_IN) event.events |= EPOLLIN;
    if (events & CPOLL_OUT) event.events |= EPOLLOUT;
    if (epoll_ctl(poll->poll, EPOLL_CTL_ADD, fd, &event) != 0 && errno == EEXIST)
        epoll_ctl(poll->poll, EPOLL_CTL_MOD, fd, &event);
}

void cpoll_forget(cpoll poll, int fd) { epoll_ctl(poll->poll, EPOLL_CTL_DEL, fd, NULL); }

int cpoll_wait(cpoll poll, struct cpoll_event *events, int capacity, int milliseconds) {
    struct epoll_event found[MOST_EVENTS];
    int count = epoll_wait(poll->poll, found, capacity < MOST_EVENTS ? capacity : MOST_EVENTS, milliseconds);
    int kept = 0;
    for (int index = 0; index < count; index++) {
        if (found[index].data.fd == poll->wake) continue;
        int seen = 0;
        if (found[index].events & EPOLLIN) seen |= CPOLL_IN;
        if (found[index].events & EPOLLOUT) seen |= CPOLL_OUT;
        /* Whichever is tried next meets the failure. */
        if (found[index].events & (EPOLLERR | EPOLLHUP)) seen |= CPOLL_IN | CPOLL_OUT;
        events[kept++] = (struct cpoll_event){found[index].data.fd, seen};
    }
    return kept;
}

/* The number in the eventfd is never read: each change of it is reported once, which is all that is wanted. */
void cpoll_wake(cpoll poll) {
    uint64_t one = 1;
    while (write(poll->wake, &one, sizeof one) < 0 && errno == EINTR) {
    }
}

bool csigpipe_block(void) {
    sigset_t pipe, before;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    return pthread_sigmask(SIG_BLOCK, &pipe, &before) == 0 && !sigismember(&before, SIGPIPE);
}

void csigpipe_allow(void) {
    sigset_t pipe, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    if (sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE)) {
        struct timespec none = {0, 0};
        while (sigtimedwait(&pipe, NULL, &none) < 0 && errno == EINTR) {
        }
    }
    pthread_sigmask(SIG_UNBLOCK, &pipe, NULL);
}

#endif
