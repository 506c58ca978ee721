import Foundation
import ProgramSupport
import SequencingOAuth

@testable import TestSupport

/// The built `transfer-probe`, which uploads and downloads in its own process.
enum TransferProbe {
  static let executable = BuiltProgram.path("transfer-probe")

  static func start(_ command: String, _ url: String, _ file: String) throws -> ChildProcess {
    try ChildProcess([executable, command, url, file])
  }

  /// Starts a request with a time limit in whole seconds.
  ///
  /// `command` is the probe's command that sends the request.
  static func start(_ command: String, _ url: String, limit: Int) throws -> ChildProcess {
    try ChildProcess([executable, command, url, "\(limit)"])
  }

  /// Starts a download that stops after `bytes` have arrived, so that the test can kill it.
  static func start(
    download url: String, to file: String, stopsAfter bytes: Int
  ) throws -> ChildProcess {
    try ChildProcess([executable, "download", url, file, "\(bytes)"])
  }

  /// Runs a command on a disk that fails later: once a file is at the path of its result, no sync of
  /// a file or a folder succeeds.
  static func run(_ command: String, _ url: String, toFailingDisk file: String) async throws
    -> ChildProcess.Result
  {
    try await run(command, url, file, with: syncSource)
  }

  /// Runs a download to a file system in which each file has the mode 0755, as on a USB stick.
  static func run(download url: String, toDiskWithoutModes file: String) async throws
    -> ChildProcess.Result
  {
    try await run("download", url, file, with: modeSource)
  }

  /// Runs a download to a file server that is full after 200,000 bytes.
  ///
  /// The server tells so with a later write, and then with each other opening of the file.
  static func run(download url: String, toFullServer file: String) async throws
    -> ChildProcess.Result
  {
    try await run("download", url, file, with: serverSource)
  }

  private static func run(
    _ command: String, _ url: String, _ file: String, with source: String
  ) async throws -> ChildProcess.Result {
    let folder = try TemporaryFolder()
    let library = folder.file("faults.so")
    try await CCompiler.buildLibrary("#define _GNU_SOURCE\n" + source, at: library)
    return try await ChildProcess.run(
      [executable, command, url, file], environment: ["LD_PRELOAD": library, "SQ_FILE": file])
  }

  private static let modeSource = """
    #include <fcntl.h>
    #include <sys/stat.h>
    static int shown(int result, struct stat *status) {
      if (result == 0 && S_ISREG(status->st_mode)) status->st_mode = S_IFREG | 0755;
      return result;
    }
    int fchmod(int file, mode_t mode) { return 0; }
    int fstat(int file, struct stat *status) {
      return shown(fstatat(file, "", status, AT_EMPTY_PATH), status);
    }
    int lstat(const char *path, struct stat *status) {
      return shown(fstatat(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW), status);
    }
    """

  private static let serverSource = """
    #include <errno.h>
    #include <sys/stat.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    static ino_t full;
    static int told = -1;
    ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
      struct stat status;
      if (offset + count <= 200000 || fstat(file, &status) != 0)
        return syscall(SYS_pwrite64, file, bytes, count, offset);
      full = status.st_ino;
      told = file;
      errno = ENOSPC;
      return -1;
    }
    int fsync(int file) {
      struct stat status;
      if (told < 0 || told == file || fstat(file, &status) != 0 || status.st_ino != full)
        return (int)syscall(SYS_fsync, file);
      errno = ENOSPC;
      return -1;
    }
    """

  private static let syncSource = """
    #include <errno.h>
    #include <stdlib.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    int fsync(int file) {
      if (access(getenv("SQ_FILE"), F_OK) != 0) return (int)syscall(SYS_fsync, file);
      errno = EIO;
      return -1;
    }
    """

  /// Starts the probe with a limit for the size of files, in blocks of 1024 bytes.
  static func start(
    _ command: String, _ url: String, _ file: String, fileLimit: Int
  ) throws -> ChildProcess {
    try ChildProcess([
      "bash", "-c", "ulimit -f \(fileLimit) && exec \"$@\"", "bash", executable, command, url, file,
    ])
  }
}
