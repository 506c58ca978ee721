// Preloaded into a process, this library makes the n-th system call on files of one folder fail.
//
// SQ_FAULT_FOLDER  the folder, with everything below it
// SQ_FAULT_AT      the number of the call, counted from 1 among those that can fail in this way;
//                  with -1 every such call is printed as `call: NAME`, and none fails
// SQ_FAULT_HOW     `broken`: the call fails with EIO, a write after half of its bytes;
//                  `full`: a call that needs disk space fails with ENOSPC, a write halfway;
//                  `kill`: the process is killed instead of the call;
//                  `torn`: the process is killed after a write has written half of its bytes;
//                  `short`: a write writes half of its bytes, which is not an error;
//                  `lockless`: no file can be locked;
//                  `lost`: as `broken`, and all later calls that sync, need room or write fail too;
//                  `unreadable`: a read fails with EIO, and all later reads fail too
//
// The failed call is printed on standard error: `fault: NAME`. Nothing is printed if the process
// ends before its n-th call. Calls go to the kernel directly, so no other library is needed.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum kind { OTHER, READS, SYNCS, TAKES_ROOM, WRITES };

static atomic_int calls;
static const char *folder, *how;
static int when;
// The kinds of calls from the first to the last one can fail.
static enum kind least, most = WRITES;

__attribute__((constructor)) static void begin(void) {
  folder = getenv("SQ_FAULT_FOLDER");
  how = getenv("SQ_FAULT_HOW");
  const char *text = getenv("SQ_FAULT_AT");
  when = text == NULL || how == NULL ? 0 : atoi(text);
  if (when == 0) return;
  if (strcmp(how, "full") == 0) least = TAKES_ROOM;
  if (strcmp(how, "torn") == 0 || strcmp(how, "short") == 0) least = WRITES;
  if (strcmp(how, "unreadable") == 0) least = most = READS;
}

static int is_inside(const char *path) {
  if (folder == NULL || path == NULL || when == 0) return 0;
  size_t size = strlen(folder);
  return strncmp(path, folder, size) == 0 && (path[size] == '/' || path[size] == 0);
}

// Finds the path of an open file, or an empty text if it has none.
static void find_path(int file, char path[4096]) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t count = syscall(SYS_readlinkat, AT_FDCWD, link, path, 4095);
  path[count < 0 ? 0 : count] = 0;
}

static int is_open_inside(int file) {
  char path[4096];
  find_path(file, path);
  return is_inside(path);
}

// Returns whether a file is the log in which SQLite writes changes before the database has them.
static int is_log(int file) {
  char path[4096];
  find_path(file, path);
  size_t size = strlen(path);
  return size > 4 && strcmp(path + size - 4, "-wal") == 0;
}

static int is_turn(enum kind kind, int is_ours, const char *name) {
  if (!is_ours || kind < least || kind > most) return 0;
  if (when > 0) {
    int number = atomic_fetch_add(&calls, 1) + 1;
    int is_lost = kind == READS ? most == READS : kind >= SYNCS && strcmp(how, "lost") == 0;
    if (number < when || (number > when && !is_lost)) return 0;
  }
  char line[64];
  int size = snprintf(line, sizeof line, "%s: %s\n", when > 0 ? "fault" : "call", name);
  syscall(SYS_write, 2, line, size);
  return when > 0;
}

static void die(void) {
  syscall(SYS_kill, getpid(), SIGKILL);
  for (;;) pause();
}

static int error(void) { return least == TAKES_ROOM ? ENOSPC : EIO; }

// Makes a call other than a write fail if it is its turn. Returns 0 if the call must continue.
static int goes_wrong(enum kind kind, int is_ours, const char *name) {
  if (!is_turn(kind, is_ours, name)) return 0;
  if (strcmp(how, "kill") == 0) die();
  errno = error();
  return 1;
}

#define FAULTY(kind, is_ours, name) \
  if (goes_wrong(kind, is_ours, name)) return -1

static ssize_t some(int file, const void *bytes, size_t count, off_t offset) {
  return offset < 0 ? syscall(SYS_write, file, bytes, count)
                    : syscall(SYS_pwrite64, file, bytes, count, offset);
}

static ssize_t writing(const char *name, int file, const void *bytes, size_t count, off_t offset) {
  if (!is_turn(WRITES, is_open_inside(file), name)) return some(file, bytes, count, offset);
  if (strcmp(how, "kill") == 0) die();
  ssize_t written = some(file, bytes, count > 1 ? count / 2 : count, offset);
  if (strcmp(how, "short") == 0) return written;
  if (strcmp(how, "torn") == 0) die();
  errno = error();
  return -1;
}

ssize_t write(int file, const void *bytes, size_t count) {
  return writing("write", file, bytes, count, -1);
}
ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
  return writing(is_log(file) ? "pwrite of a log" : "pwrite", file, bytes, count, offset);
}
ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
  return pwrite(file, bytes, count, offset);
}

ssize_t read(int file, void *bytes, size_t count) {
  FAULTY(READS, is_open_inside(file), "read");
  return syscall(SYS_read, file, bytes, count);
}
ssize_t pread(int file, void *bytes, size_t count, off_t offset) {
  FAULTY(READS, is_open_inside(file), "pread");
  return syscall(SYS_pread64, file, bytes, count, offset);
}
ssize_t pread64(int file, void *bytes, size_t count, off64_t offset) {
  return pread(file, bytes, count, offset);
}

static int opening(int base, const char *path, int flags, mode_t mode) {
  FAULTY(flags & O_CREAT ? TAKES_ROOM : OTHER, is_inside(path), flags & O_CREAT ? "create" : "open");
  return syscall(SYS_openat, base, path, flags, mode);
}

#define OPEN_MODE(flags)                         \
  mode_t mode = 0;                               \
  if (((flags) & O_CREAT) || ((flags) & O_TMPFILE) == O_TMPFILE) { \
    va_list list;                                \
    va_start(list, flags);                       \
    mode = va_arg(list, int);                    \
    va_end(list);                                \
  }

int open(const char *path, int flags, ...) {
  OPEN_MODE(flags);
  return opening(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  OPEN_MODE(flags);
  return opening(AT_FDCWD, path, flags, mode);
}
int openat(int base, const char *path, int flags, ...) {
  OPEN_MODE(flags);
  return opening(base, path, flags, mode);
}
int openat64(int base, const char *path, int flags, ...) {
  OPEN_MODE(flags);
  return opening(base, path, flags, mode);
}

static const char *sync_name(int file) {
  struct stat status;
  return fstat(file, &status) == 0 && S_ISDIR(status.st_mode) ? "fsync of a folder" : "fsync";
}

int fsync(int file) {
  FAULTY(SYNCS, is_open_inside(file), sync_name(file));
  return syscall(SYS_fsync, file);
}
int fdatasync(int file) {
  FAULTY(SYNCS, is_open_inside(file), is_log(file) ? "fdatasync of a log" : "fdatasync");
  return syscall(SYS_fdatasync, file);
}
int ftruncate(int file, off_t size) {
  FAULTY(TAKES_ROOM, is_open_inside(file), "ftruncate");
  return syscall(SYS_ftruncate, file, size);
}
int ftruncate64(int file, off64_t size) {
  return ftruncate(file, size);
}
int posix_fallocate(int file, off_t offset, off_t size) {
  if (goes_wrong(TAKES_ROOM, is_open_inside(file), "fallocate")) return errno;
  return syscall(SYS_fallocate, file, 0, offset, size) == 0 ? 0 : errno;
}
int posix_fallocate64(int file, off64_t offset, off64_t size) {
  return posix_fallocate(file, offset, size);
}
int flock(int file, int operation) {
  if (when != 0 && strcmp(how, "lockless") == 0 && is_open_inside(file)) {
    errno = EOPNOTSUPP;
    return -1;
  }
  FAULTY(OTHER, is_open_inside(file), "flock");
  return syscall(SYS_flock, file, operation);
}

int rename(const char *from, const char *to) {
  FAULTY(TAKES_ROOM, is_inside(to), "rename");
  return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}
int link(const char *from, const char *to) {
  FAULTY(TAKES_ROOM, is_inside(to), "link");
  return syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}
int unlink(const char *path) {
  FAULTY(OTHER, is_inside(path), "unlink");
  return syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}
int mkdir(const char *path, mode_t mode) {
  FAULTY(TAKES_ROOM, is_inside(path), "mkdir");
  return syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}
int chmod(const char *path, mode_t mode) {
  FAULTY(OTHER, is_inside(path), "chmod");
  return syscall(SYS_fchmodat, AT_FDCWD, path, mode);
}
int fchmod(int file, mode_t mode) {
  FAULTY(OTHER, is_open_inside(file), "fchmod");
  return syscall(SYS_fchmod, file, mode);
}
