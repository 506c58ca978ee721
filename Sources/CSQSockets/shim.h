#pragma once
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifdef __APPLE__
#include <fcntl.h>
#endif

#ifdef __linux__
#include <sys/epoll.h>
#include <sys/eventfd.h>

/// Accepts a connection that child processes do not inherit. The C library declares `accept4` only
/// for programs that define _GNU_SOURCE, which Swift's own module map does not do.
int accept4(int, struct sockaddr *, socklen_t *, int);

/// Makes a program that is started close all descriptors from a number on. Swift's module map does
/// not declare this function either.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);

/// Opens a pipe with flags. Swift's module map does not declare this function either.
int pipe2(int *, int);
#endif

/// The settings of a program to start: its file actions and its attributes. Apple's systems declare
/// the two types as pointers.
struct sq_spawning {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
};

/// Returns how many descriptors the process may have, or -1 if there is no limit.
static inline long sq_descriptor_limit(void) { return sysconf(_SC_OPEN_MAX); }

/// Opens a socket that child processes do not inherit. `sq_send` raises no SIGPIPE on it.
static inline int sq_socket(int family, int type, int protocol) {
#ifdef __APPLE__
  int file = socket(family, type, protocol), on = 1;
  if (file < 0) return file;
  fcntl(file, F_SETFD, FD_CLOEXEC);
  setsockopt(file, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
  return file;
#else
  return socket(family, type | SOCK_CLOEXEC, protocol);
#endif
}

/// Opens a pipe that child processes do not inherit.
static inline int sq_pipe(int ends[2]) {
#ifdef __APPLE__
  if (pipe(ends) != 0) return -1;
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  return 0;
#else
  // EFD_CLOEXEC is O_CLOEXEC. The header of O_CLOEXEC would make this module declare `flock`.
  return pipe2(ends, EFD_CLOEXEC);
#endif
}

/// Sends bytes, and raises no SIGPIPE if the other side is gone.
static inline ssize_t sq_send(int socket, const void *bytes, size_t count) {
#ifdef __APPLE__
  return send(socket, bytes, count, 0);
#else
  return send(socket, bytes, count, MSG_NOSIGNAL);
#endif
}

// Swift can use the fields of a C type only in files that import the module that first declares it.
// `sigset_t`, `pollfd` and `timespec` are declared in several modules, and which module is first
// depends on what else is compiled. So these functions use the fields.

/// Returns an empty set of signals.
static inline sigset_t sq_no_signals(void) {
  sigset_t signals;
  sigemptyset(&signals);
  return signals;
}

/// Blocks all signals on the calling thread.
static inline void sq_block_signals(void) {
  sigset_t signals;
  sigfillset(&signals);
  pthread_sigmask(SIG_SETMASK, &signals, 0);
}

/// Unblocks all signals on the calling thread.
static inline void sq_unblock_signals(void) {
  sigset_t signals = sq_no_signals();
  pthread_sigmask(SIG_SETMASK, &signals, 0);
}

/// Returns whether the process ignores a signal.
static inline int sq_is_ignored(int signal) {
  struct sigaction action;
  return sigaction(signal, 0, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// Writes bytes, and raises no SIGPIPE if no program reads the pipe.
static inline ssize_t sq_write(int file, const void *bytes, size_t count) {
  sigset_t broken = sq_no_signals(), mask, pending = sq_no_signals();
  int number;
  sigaddset(&broken, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken, &mask);
  sigpending(&pending);
  int was_pending = sigismember(&pending, SIGPIPE);
  ssize_t written = write(file, bytes, count);
  sigpending(&pending);
  // Remove the pending SIGPIPE of this call, so that it is not delivered when SIGPIPE is unblocked.
  if (!was_pending && sigismember(&pending, SIGPIPE)) sigwait(&broken, &number);
  pthread_sigmask(SIG_SETMASK, &mask, 0);
  return written;
}

/// Returns an entry for poll(2), which waits for these events of a descriptor.
static inline struct pollfd sq_polled(int file, uint32_t events) {
  struct pollfd polled = {file, (short)(events & (POLLIN | POLLOUT)), 0};
  return polled;
}

static inline int sq_polled_file(struct pollfd polled) { return polled.fd; }

/// Returns the events that poll(2) reported in an entry.
static inline uint32_t sq_polled_events(struct pollfd polled) {
  return (unsigned short)polled.revents;
}

/// Returns the time of a clock in nanoseconds. A signal handler may call it.
static inline uint64_t sq_nanoseconds(clockid_t clock) {
  struct timespec time = {0, 0};
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// Apple's CLOCK_MONOTONIC is like Linux's CLOCK_BOOTTIME: it also runs while the machine is
// suspended.
#ifdef __APPLE__
#define SQ_CLOCK CLOCK_UPTIME_RAW
#define SQ_COARSE_CLOCK CLOCK_UPTIME_RAW_APPROX
#define SQ_CLOCK_AWAKE_OR_NOT CLOCK_MONOTONIC
#else
#define SQ_CLOCK CLOCK_MONOTONIC
#define SQ_COARSE_CLOCK CLOCK_MONOTONIC_COARSE
#define SQ_CLOCK_AWAKE_OR_NOT CLOCK_BOOTTIME
#endif

/// Returns the time of the clock that stops while the machine is suspended.
static inline uint64_t sq_monotonic_nanoseconds(void) { return sq_nanoseconds(SQ_CLOCK); }

/// Returns the time of `sq_monotonic_nanoseconds` faster, with a resolution of a few milliseconds.
static inline uint64_t sq_coarse_nanoseconds(void) { return sq_nanoseconds(SQ_COARSE_CLOCK); }

/// Returns the time of the clock that also runs while the machine is suspended.
static inline uint64_t sq_nanoseconds_awake_or_not(void) {
  return sq_nanoseconds(SQ_CLOCK_AWAKE_OR_NOT);
}

/// Waits until one of two descriptors can be read or has ended. The result has bit 0 set for the
/// first one and bit 1 for the second one, or is -1 for an error.
static inline int sq_wait_for_input(int first, int second) {
  struct pollfd files[2] = {{first, POLLIN, 0}, {second, POLLIN, 0}};
  int count = poll(files, 2, -1);
  return count < 0 ? -1 : (files[0].revents != 0) | (files[1].revents != 0) << 1;
}
