import Dispatch
import SQBasics
import SQLibC

/// The release of the lock on a removed lock file, delayed until no other program has that file
/// open.
///
/// A program may open the file before it is removed, and lock it only afterwards. Then that program
/// holds the lock of a file without a path, while the next program locks a new file. This version
/// of the SDK notices that by the file's inode number, but older versions do not. So this process
/// keeps the lock while the file is open elsewhere. The other program's flock(2) fails, and that
/// program tries again.
///
/// The lock is also kept a moment longer. While another program's open(2) runs, the kernel does not
/// yet count the file as open, and a busy machine may pause that program for some time.
enum LockRemoval {
  /// How often the caller waits 100 µs for another program to close the file.
  private static let stepsAtOnce = 100
  /// How long to keep the lock before the first check on another thread, in milliseconds.
  private static let moment = 100
  /// The maximum number of checks that follow the first check, at intervals of one second.
  private static let looksLater = 60
  /// The largest number of locks that are kept at the same time, each with a descriptor.
  ///
  /// Above this number a lock is released at once, unless another program has its file open.
  private static let mostKept = DescriptorNumber.budget(atMost: 128)
  private static let kept = Locked(0)

  /// Releases the lock soon, in most cases on another thread.
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
      // If the file system cannot tell whether the file is open, the lock is kept one second
      // longer, as if the file had been open at the first check.
      let isOpen = isOpenElsewhere(file) ?? (looks == looksLater)
      guard looks > 0, isOpen else {
        kept.withLock { $0 -= 1 }
        return file.unlock()
      }
      finish(file, after: 1000, looks: looks - 1)
    }
  }

  /// Returns whether the file is open a second time, in this process or another; `nil` if it is not
  /// known.
  ///
  /// The method asks for a write lease, which the kernel offers to file servers. The kernel grants
  /// the lease only if the file is not open a second time.
  ///
  /// - SeeAlso: fcntl(2), section "Leases"
  private static func isOpenElsewhere(_ file: FileDescriptor) -> Bool? {
    #if os(Linux)
      // The default signal of a lease ends the process; this signal does nothing, unless the app
      // handles it.
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

  /// Linux's commands F_SETSIG and F_SETLEASE, because Swift does not import them.
  private enum Command {
    static let setSignal: Int32 = 10
    static let setLease: Int32 = 1024
  }
}
