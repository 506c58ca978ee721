import SQBasics
import SQFiles
import SQFoundation

/// A file with space for one record, created on the disk before the record is known.
///
/// Its content is written in place, because a write within the reserved space needs neither more
/// disk space nor a lock that another process may hold. The calls block their thread, but
/// ``write(_:)`` only copies into the system's cache.
final class WriteAheadFile: Sendable {
  private struct State {
    /// The open file; `nil` after ``WriteAheadFile/finish()``.
    var descriptor: FileDescriptor?
    var isWritten = false
  }

  /// The paths of the files whose content may not be on the disk, because a sync failed.
  ///
  /// The kernel reports such a failure only once: a later sync of the file would succeed, although
  /// the content was not written (fsync(2)).
  private static let unsynced = Locked(TextDictionary<Bool>())

  private let file: PrivateFile
  private let state: Locked<State>

  /// Creates the file with space for `size` bytes; it replaces any file at the same path.
  init(making file: PrivateFile, size: Int) throws(FileFailure) {
    self.file = file
    let descriptor = try FileDescriptor.making(file.path)
    do throws(FileFailure) {
      try descriptor.reserve(size)
      try descriptor.sync()
      // The file's name, like its space, must survive a power failure.
      try file.syncFolder()
    } catch {
      try? file.remove()
      descriptor.close()
      throw error
    }
    state = Locked(State(descriptor: descriptor))
    Self.unsynced.withLock { $0[file.path] = nil }
  }

  /// Returns whether no sync of the file at a path has failed since this process created the file.
  static func isSynced(_ path: String) -> Bool { unsynced.withLock { $0[path] == nil } }

  /// Writes the content at the file's start.
  func write(_ content: Data) throws(FileFailure) {
    try state.withLock { state throws(FileFailure) in
      guard let descriptor = state.descriptor else { throw .closed }
      // After the first byte, the file may hold the only copy of the record, so it is kept.
      state.isWritten = true
      try descriptor.write(content, at: 0)
    }
  }

  /// Writes the content to the disk, so that it survives a power failure.
  ///
  /// After a failure, ``isSynced(_:)`` returns `false` for the file's path.
  func sync() {
    // The disk may be slow, so the lock is not held meanwhile. The descriptor stays open, because
    // the caller calls `finish()` only afterwards.
    guard let descriptor = state.withLock(\.descriptor) else { return }
    if (try? descriptor.sync()) == nil { Self.unsynced.withLock { $0[file.path] = true } }
  }

  /// Closes the file, and removes it if nothing was written.
  func finish() {
    let (descriptor, isWritten) = state.withLock { state in
      defer { state.descriptor = nil }
      return (state.descriptor, state.isWritten)
    }
    guard let descriptor else { return }
    // Another process may have created its own file at this path.
    if !isWritten, descriptor.isAt(file.path) { try? file.remove() }
    descriptor.close()
  }

  deinit { finish() }
}
