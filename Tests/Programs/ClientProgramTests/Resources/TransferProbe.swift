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
    let folder = try TemporaryFolder()
    let library = folder.file("sync.so")
    try await CCompiler.buildLibrary(syncSource, at: library)
    return try await ChildProcess.run(
      [executable, command, url, file], environment: ["LD_PRELOAD": library, "SQ_FILE": file])
  }

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
