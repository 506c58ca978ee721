#pragma once

// Swift's own module of the C library does not include these headers.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>

// glibc declares it only for programs that define _GNU_SOURCE.
extern int ppoll(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);

// On Debian, the header is in a folder that only pkg-config's flags name.
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif

// The protocol's error fields, whose names are characters in C, which Swift does not import as
// integers.
static const int sq_error_state = PG_DIAG_SQLSTATE;
static const int sq_error_text = PG_DIAG_MESSAGE_PRIMARY;
