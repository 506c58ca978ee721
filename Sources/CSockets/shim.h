#pragma once
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
