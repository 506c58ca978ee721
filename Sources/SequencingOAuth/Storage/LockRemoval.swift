import Dispatch

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Gives back a lock whose file has just been removed, when no other program can get it any more.
///
/// A program that opened the file before it was removed, and asks for its lock after it is free,
/// gets the lock of a file that nobody else will find. This version of the SDK notices that by the
/// file's number; versions 1 and older do not. So the lock is kept as long as another program has
/// the file open: that is the moment between its open(2) and its flock(2), which then fails.
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

  /// Whether another descriptor of the file was opened, here or in another process; `nil` where the
  /// system does not tell.
  ///
  /// A lease for writing, which is what file servers use, is given to the only one that has a file
  /// open.
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
