import SQBasics
import SQFiles
import SQFoundation

/// A cleanup of the stale lock files in a folder.
///
/// Such files come from killed processes, and from older versions of the SDK, because those kept
/// one file for each account.
final class UnusedLocks: Sendable {
  /// The minimum age of a file to be removed, in seconds.
  ///
  /// A younger file may belong to a process that has not locked it yet.
  private static let age = 60

  private let folder: String
  private let isDone = Locked(false)

  init(folder: String) {
    self.folder = folder
  }

  /// Removes the folder's unused lock files on another thread; only the first call does so.
  func removeOnce() {
    let isFirst = isDone.withLock { isDone in
      defer { isDone = true }
      return !isDone
    }
    guard isFirst else { return }
    BlockingQueue("UnusedLocks").start { [folder] in Self.remove(in: folder) }
  }

  private static func remove(in folder: String) {
    // An error does no harm: another process will try again.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    for name in names where AccountLocks.isName(name) {
      let path = "\(folder)/\(name)"
      guard let status = try? FileStatus(at: path), status.age >= age,
        let lock = try? FileLock.ifFree(path)
      else { continue }
      lock.remove()
    }
  }
}
