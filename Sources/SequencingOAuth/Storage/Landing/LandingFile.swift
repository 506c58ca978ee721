import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A file with room for one record, made and synced before the record is known.
///
/// Its content is written in place, because a write within the room that was reserved needs no
/// further room on the disk and no other process's lock. The calls block, but ``write(_:)`` only
/// copies into the system's cache.
final class LandingFile: Sendable {
  private struct State {
    var descriptor: Int32?
    var isWritten = false
  }

  private let path: String
  private let state: Locked<State>

  /// Makes the file with room for so many bytes; what was there under its name goes.
  init(making path: String, size: Int) throws(FileError) {
    self.path = path
    unlink(path)
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let descriptor = open(path, flags, 0o600)
    guard descriptor >= 0 else { throw FileError(call: "open", errno: errno) }
    do throws(FileError) {
      try Self.reserve(size, in: descriptor)
      // The name must survive a loss of power as well as the room.
      try PrivateFile(path: path).syncFolder()
    } catch {
      unlink(path)
      Self.close(descriptor)
      throw error
    }
    state = Locked(State(descriptor: descriptor))
  }

  private static func reserve(_ size: Int, in descriptor: Int32) throws(FileError) {
    // The process's umask may have taken the owner's rights.
    guard fchmod(descriptor, 0o600) == 0 else { throw FileError(call: "fchmod", errno: errno) }
    #if canImport(Darwin)
      guard ftruncate(descriptor, off_t(size)) == 0 else {
        throw FileError(call: "ftruncate", errno: errno)
      }
    #else
      // Unlike other calls, it returns its error.
      var error = EINTR
      while error == EINTR { error = posix_fallocate(descriptor, 0, off_t(size)) }
      guard error == 0 else { throw FileError(call: "posix_fallocate", errno: error) }
    #endif
    guard fsync(descriptor) == 0 else { throw FileError(call: "fsync", errno: errno) }
  }

  /// Writes the content at the file's start.
  func write(_ content: Data) throws(FileError) {
    let failure: Int32? = state.withLock { state in
      guard let descriptor = state.descriptor else { return EBADF }
      // From the first byte on the file may hold the only copy, so it is not removed.
      state.isWritten = true
      return content.withUnsafeBytes { Self.write($0, to: descriptor) }
    }
    if let failure { throw FileError(call: "pwrite", errno: failure) }
  }

  /// Returns the error, if there is one.
  private static func write(_ content: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32? {
    var done = 0
    while done < content.count {
      let rest = UnsafeRawBufferPointer(rebasing: content[done...])
      let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(done))
      if count > 0 { done += count } else if count == 0 || errno != EINTR { return errno }
    }
    return nil
  }

  /// Returns when the content survives a loss of power.
  func sync() {
    // Not under the lock: the disk may take long. The descriptor lives until `finish()`, which
    // comes after.
    guard let descriptor = state.withLock(\.descriptor) else { return }
    fsync(descriptor)
  }

  /// Closes the file, and removes it if nothing was written.
  func finish() {
    let (descriptor, isWritten) = state.withLock { state in
      defer { state.descriptor = nil }
      return (state.descriptor, state.isWritten)
    }
    guard let descriptor else { return }
    if !isWritten, isAtPath(descriptor) { unlink(path) }
    Self.close(descriptor)
  }

  /// Whether the path still leads to this file: another process may have put its own there.
  private func isAtPath(_ descriptor: Int32) -> Bool {
    guard let mine = try? FileStatus(of: descriptor), let there = try? FileStatus(at: path) else {
      return false
    }
    return mine.isSameFile(as: there)
  }

  private static func close(_ descriptor: Int32) {
    #if canImport(Glibc)
      Glibc.close(descriptor)
    #else
      Darwin.close(descriptor)
    #endif
  }

  deinit { finish() }
}
