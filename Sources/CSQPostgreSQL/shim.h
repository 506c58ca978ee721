#pragma once

// Swift's own module of the C library leaves these out.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>

// glibc shows it to GNU programs only.
extern int ppoll(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);

// Debian has the header in a folder, which only pkg-config's flags name.
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif

// The error fields of the protocol, whose names are characters in C and no integers in Swift.
static const int sq_error_state = PG_DIAG_SQLSTATE;
static const int sq_error_text = PG_DIAG_MESSAGE_PRIMARY;
