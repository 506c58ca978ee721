import Foundation
import SequencingOAuth

/// Takes an account's lock file again and again, among other processes that do so too, and counts
/// how often another one had it at the same time.
struct LockRace {
  /// Whether it is taken as versions did that never removed the file.
  let isOld: Bool
  let path: String

  func run(_ rounds: Int) throws -> String {
    var clashes = 0
    for _ in 0..<rounds {
      let release = try take()
      // Only one process can make this file.
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
      if isOld {
        if let file = takeAsBefore() {
          return {
            flock(file, LOCK_UN)
            close(file)
          }
        }
      } else if let lock = try FileLock.ifFree(path) {
        return { lock.remove() }
      }
      usleep(20)
    }
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
