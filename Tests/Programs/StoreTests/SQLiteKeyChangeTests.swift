import Foundation
import ProgramSupport
import SequencingOAuth
import SequencingOAuthSQLite
import TestSupport
import Testing

/// Changing the key of a database while another process is about to refresh a token.
@Suite(.timeLimit(.minutes(2)), .requires(CCompiler.requirement)) struct SQLiteKeyChangeTests {
  @Test func `a process that did not see the change of the key in time sends no refresh token`()
    async throws
  {
    let folder = try TemporaryFolder()
    let kind = StoreKind.encryptedSQLite
    try await kind.open(folder).save(record("a"))
    let library = folder.file("stop.so")
    try await CCompiler.buildLibrary(Self.stopSource, at: library)
    let refresh = try StoreProbe.start(
      kind, in: folder, ["next"], environment: ["LD_PRELOAD": library],
      input: try StoreProbe.input([record("a", token: SQToken(accessToken: "next"))]))
    // The process has read the record, and no file shows yet that it refreshes the token.
    try await eventually("the refresh is suspended") { refresh.isStopped }
    let path = try kind.path(folder)
    let newKey = StoreKey.raw(Data(repeating: 1, count: 32))
    try await SQLiteTokenStore(path: path, key: .file(path + ".key")).changeKey(to: newKey)
    refresh.signal(SIGCONT)
    let result = try await refresh.result()
    #expect(result.code == .wrongPassphrase, "\(result.errors)")
    #expect(result.output == "", "the store makes no reservation")
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    #expect(!names.contains { $0.contains(".landing-") })
    #expect(try await SQLiteTokenStore(path: path, key: newKey).all() == [record("a")])
  }

  /// A library that suspends the process when it is about to create a write-ahead copy's file.
  ///
  /// The thread sends the signal to itself: after a signal to the process, another thread may stop
  /// the process later, and this thread would go on until then.
  private static let stopSource = """
    #define _GNU_SOURCE
    #include <fcntl.h>
    #include <signal.h>
    #include <stdarg.h>
    #include <string.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    static int opening(const char *path, int flags, va_list list) {
      int mode = flags & O_CREAT ? va_arg(list, int) : 0;
      if ((flags & O_CREAT) && strstr(path, ".landing-"))
        syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGSTOP);
      return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    }
    int open(const char *path, int flags, ...) {
      va_list list;
      va_start(list, flags);
      int file = opening(path, flags, list);
      va_end(list);
      return file;
    }
    int open64(const char *path, int flags, ...) {
      va_list list;
      va_start(list, flags);
      int file = opening(path, flags, list);
      va_end(list);
      return file;
    }
    """
}
