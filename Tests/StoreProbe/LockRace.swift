import Foundation
import SQFiles
import SequencingOAuth

/// A race for an account's lock file, which other processes take repeatedly at the same time.
///
/// ``run(_:)`` counts how often another process had the lock at the same time.
struct LockRace {
  enum Style: String {
    /// Takes the lock as the SDK does.
    case new
    /// Takes the lock as old versions did, which never removed or compared the file.
    case old
    /// Takes the lock as the SDK does on a system that does not say whether another program has the
    /// file open.
    case hasty
  }

  let style: Style
  let path: String

  func run(_ rounds: Int) throws -> String {
    var clashes = 0
    for _ in 0..<rounds {
      let release = try take()
      // Only one process can create this file.
      let mark = open(path + ".inside", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      if mark < 0 { clashes += 1 }
      usleep(20)
      if mark >= 0 {
        unlink(path + ".inside")
        close(mark)
      }
      release()
    }
    return "\(clashes) clashes"
  }

  private func take() throws -> () -> Void {
    while true {
      switch style {
      case .new: if let lock = try FileLock.ifFree(path) { return { lock.remove() } }
      case .old: if let file = takeAsBefore() { return { release(file) } }
      case .hasty:
        if let file = takeAsBefore() {
          if isInPlace(file) {
            return {
              unlink(path)
              release(file)
            }
          }
          release(file)
        }
      }
      usleep(20)
    }
  }

  private func release(_ file: Int32) {
    flock(file, LOCK_UN)
    close(file)
  }

  private func isInPlace(_ file: Int32) -> Bool {
    var (status, named) = (stat(), stat())
    return fstat(file, &status) == 0 && lstat(path, &named) == 0 && status.st_ino == named.st_ino
  }

  private func takeAsBefore() -> Int32? {
    let file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    fchmod(file, 0o600)
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
      close(file)
      return nil
    }
    return file
  }
}
