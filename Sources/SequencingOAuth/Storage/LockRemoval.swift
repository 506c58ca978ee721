import Dispatch

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Gives back a lock whose file has just been removed, once no other program has that file open.
///
/// A program may have opened the file before it was removed, and lock it only afterwards. It then
/// holds the lock of a file that no path leads to, while the next program locks a new file. This
/// version of the SDK notices that by the file's number; older versions do not. So the lock is kept
/// while another program is between its open(2) and its flock(2), which then fails.
enum LockRemoval {
  /// How long the caller waits for that moment to pass, in steps of 100 µs.
  private static let stepsAtOnce = 100
  /// How often a program that does not go on is looked at later, once a second.
  private static let looksLater = 60

  /// Gives the lock back now, or soon and on another thread.
  static func finish(_ file: Int32) {
    for _ in 0..<stepsAtOnce {
      switch isOpenElsewhere(file) {
      case false?: return release(file)
      // The file system does not tell.
      case nil: return finishLater(file, 1)
      case true?: usleep(100)
      }
    }
    finishLater(file, looksLater)
  }

  private static func finishLater(_ file: Int32, _ looks: Int) {
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .seconds(1)) {
      guard looks > 1, isOpenElsewhere(file) != false else { return release(file) }
      finishLater(file, looks - 1)
    }
  }

  static func release(_ file: Int32) {
    // To close it would not be enough while a child that another thread has just forked still has
    // the descriptor.
    flock(file, LOCK_UN)
    close(file)
  }

  /// Whether the file was opened a second time, in this process or another; `nil` if the system does
  /// not tell.
  ///
  /// The kernel gives a lease for writing, which is made for file servers, only on a file that
  /// nothing else has open.
  ///
  /// - SeeAlso: fcntl(2), section "Leases"
  private static func isOpenElsewhere(_ file: Int32) -> Bool? {
    #if os(Linux)
      // The usual signal of a lease ends a process; this one does nothing that an app has not asked
      // for.
      guard fcntl(file, Command.setSignal, SIGURG) == 0 else { return nil }
      guard fcntl(file, Command.setLease, Int32(F_WRLCK)) == 0 else {
        return errno == EAGAIN ? true : nil
      }
      _ = fcntl(file, Command.setLease, Int32(F_UNLCK))
      return false
    #else
      return nil
    #endif
  }

  /// Commands of Linux that Swift does not import: F_SETSIG and F_SETLEASE.
  private enum Command {
    static let setSignal: Int32 = 10
    static let setLease: Int32 = 1024
  }
}
