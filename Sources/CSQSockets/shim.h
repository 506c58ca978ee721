#pragma once
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>

#ifdef __linux__
#include <sys/epoll.h>
#include <sys/eventfd.h>

/// Accepts a connection that no child process inherits. The C library hides `accept4` from
/// programs that do not define _GNU_SOURCE, and Swift's own module map does not.
int accept4(int, struct sockaddr *, socklen_t *, int);

/// Closes all files from a number on in a program that is started. It is hidden as well.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);
#endif

// Swift reads the fields of a C type only in files that import the module that declares it first.
// `sigset_t` and `pollfd` are declared in several modules, and which one is first depends on what
// else is compiled. So these functions read and fill them.

/// A set of no signals.
static inline sigset_t sq_no_signals(void) {
  sigset_t signals;
  sigemptyset(&signals);
  return signals;
}

/// Waits until one of two files can be read or has ended; the result has bit 0 set for the first one
/// and bit 1 for the second one, or is -1.
static inline int sq_wait_for_input(int first, int second) {
  struct pollfd files[2] = {{first, POLLIN, 0}, {second, POLLIN, 0}};
  int count = poll(files, 2, -1);
  return count < 0 ? -1 : (files[0].revents != 0) | (files[1].revents != 0) << 1;
}
