import Basics
import Dispatch

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Gives back a lock whose file has just been removed, once no other program has that file open.
///
/// A program may have opened the file before it was removed, and lock it only afterwards. It then
/// holds the lock of a file that no path leads to, while the next program locks a new file. This
/// version of the SDK notices that by the file's number; older versions do not. So the lock is kept
/// while another program is between its open(2) and its flock(2), which then fails. It is also kept
/// for a moment after that: an open(2) that is under way is invisible from its search for the name
/// until the kernel counts the file as open, and a machine with work to do may stop it in between.
enum LockRemoval {
  /// How long the caller waits for a program that has the file open, in steps of 100 µs.
  private static let stepsAtOnce = 100
  /// How long a lock is kept after that before the first look, in milliseconds.
  private static let moment = 100
  /// How often a program that does not go on is looked at later, once a second.
  private static let looksLater = 60
  /// How many locks are kept at one time, each with a descriptor; the next ones go at once.
  private static let mostKept = 128
  private static let kept = Locked(0)

  /// Gives the lock back soon, and on another thread.
  static func finish(_ file: FileDescriptor) {
    var steps = 0
    while steps < stepsAtOnce, isOpenElsewhere(file) == true {
      usleep(100)
      steps += 1
    }
    let isKept = kept.withLock { kept in
      guard kept < mostKept || steps == stepsAtOnce else { return false }
      kept += 1
      return true
    }
    guard isKept else { return file.unlock() }
    finish(file, after: moment, looks: looksLater)
  }

  private static func finish(_ file: FileDescriptor, after milliseconds: Int, looks: Int) {
    DispatchQueue.global(qos: .utility).asyncAfter(
      deadline: .now() + .milliseconds(milliseconds)
    ) {
      // A file system that does not tell is given one second, as if it had said yes once.
      let isOpen = isOpenElsewhere(file) ?? (looks == looksLater)
      guard looks > 0, isOpen else {
        kept.withLock { $0 -= 1 }
        return file.unlock()
      }
      finish(file, after: 1000, looks: looks - 1)
    }
  }

  /// Whether the file was opened a second time, in this process or another; `nil` if the system does
  /// not tell.
  ///
  /// The kernel gives a lease for writing, which is made for file servers, only on a file that
  /// nothing else has open.
  ///
  /// - SeeAlso: fcntl(2), section "Leases"
  private static func isOpenElsewhere(_ file: FileDescriptor) -> Bool? {
    #if os(Linux)
      // The usual signal of a lease ends a process; this one does nothing that an app has not asked
      // for.
      guard fcntl(file.number, Command.setSignal, SIGURG) == 0 else { return nil }
      guard fcntl(file.number, Command.setLease, Int32(F_WRLCK)) == 0 else {
        return errno == EAGAIN ? true : nil
      }
      _ = fcntl(file.number, Command.setLease, Int32(F_UNLCK))
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
