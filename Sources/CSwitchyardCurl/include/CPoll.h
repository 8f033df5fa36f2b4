#ifndef SWITCHYARD_CPOLL_H
#define SWITCHYARD_CPOLL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What Swift's C library modules leave out: epoll with an eventfd to end a wait, and a guard against SIGPIPE.
 */

enum { CPOLL_IN = 1, CPOLL_OUT = 2 };

struct cpoll_event {
    int fd;
    int events;
};

typedef struct cpoll *cpoll;

/* NULL without a descriptor or memory to be had. */
cpoll cpoll_new(void);
void cpoll_free(cpoll poll);

/* From any thread, also while another one waits, which learns of it by itself. Reported as long as it is so. */
void cpoll_watch(cpoll poll, int fd, int events);
void cpoll_forget(cpoll poll, int fd);

/* How many events there are; none when the time is over, or after cpoll_wake. For one thread at a time. */
int cpoll_wait(cpoll poll, struct cpoll_event *events, int capacity, int milliseconds);
/* Ends the wait, or the next one. From any thread. */
void cpoll_wake(cpoll poll);

/* Keeps SIGPIPE from this thread, as a thread of somebody else needs it before TLS writes to a socket. Whether
   csigpipe_allow has to be called afterwards. */
bool csigpipe_block(void);
/* Drops the SIGPIPE that came meanwhile, and lets later ones through. */
void csigpipe_allow(void);

#endif
