import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The lock files of a folder that no process has locked: killed processes left them, and older
/// versions of the SDK, which kept one for each account.
final class LeftoverLocks: Sendable {
  /// A younger file may belong to a process that has not locked it yet.
  private static let age = 60

  private let folder: String
  private let isDone = Locked(false)

  init(folder: String) {
    self.folder = folder
  }

  /// Removes them on another thread, the first time that it is called.
  func removeOnce() {
    let isFirst = isDone.withLock { isDone in
      defer { isDone = true }
      return !isDone
    }
    guard isFirst else { return }
    BlockingQueue("LeftoverLocks").start { [folder] in Self.remove(in: folder) }
  }

  private static func remove(in folder: String) {
    // What cannot be removed now can be removed by another process.
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
