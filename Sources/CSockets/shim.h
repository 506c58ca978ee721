#pragma once
#include <sys/socket.h>

#ifdef __linux__
#include <sys/epoll.h>
#include <sys/eventfd.h>

/// Accepts a connection that no child process inherits. The C library hides `accept4` from
/// programs that do not define _GNU_SOURCE, and Swift's own module map does not.
int accept4(int, struct sockaddr *, socklen_t *, int);
#endif
