#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A file that only its owner can read, replaced whole or not at all.
///
/// Every call blocks, though none without end; call it on a thread that may. A symbolic link in the
/// file's place is refused.
package struct PrivateFile: Sendable {
  package let path: String
  private let trust: FileTrust

  package init(path: String) {
    self.init(path: path, trust: .tokens)
  }

  init(path: String, trust: FileTrust) {
    self.path = path
    self.trust = trust
  }

  /// The content, or `nil` where there is no file.
  package func read() throws(FileError) -> Data? {
    let file: FileDescriptor
    do throws(FileError) {
      file = try .reading(path)
    } catch {
      switch error.code {
      case ENOENT: return nil
      case ELOOP: throw Self.link
      case EACCES: throw denied
      default: throw error
      }
    }
    defer { file.close() }
    try trust.check(file)
    // The file may grow meanwhile.
    let content = try file.content(atMost: Int(trust.maximumBytes) + 1)
    guard content.count <= trust.maximumBytes else { throw trust.tooLarge }
    return content
  }

  /// Replaces the content; when it returns, the new content survives a loss of power.
  ///
  /// Only one process may do so at a time: what it writes first always has the same name, so that
  /// one that was killed leaves no copies of secrets behind that nobody would ever remove.
  ///
  /// - SeeAlso: rename(2), fsync(2)
  package func replace(with content: Data) throws(FileError) {
    // What could not be read again must not replace what can.
    guard content.count <= trust.maximumBytes else { throw trust.tooLarge }
    try makeFolder()
    try refuseLink()
    let temporary = path + ".new"
    let file = try FileDescriptor.making(temporary)
    do throws(FileError) {
      defer { file.close() }
      try file.write(content)
      try file.sync()
      guard rename(temporary, path) == 0 else { throw FileError(call: "rename") }
    } catch {
      unlink(temporary)
      throw error
    }
    // The new name itself is safe only once the folder is.
    try syncFolder()
  }

  /// Removes the file, if it is there.
  package func remove() throws(FileError) {
    guard unlink(path) == 0 || errno == ENOENT else { throw FileError(call: "unlink") }
  }

  /// Takes the file's lock, which is a file beside it, since this one is renamed over itself.
  ///
  /// - Throws: After the limit an error that names the lock file and its holder.
  package func lock(limit: Duration = .seconds(30)) throws(FileError) -> FileLock {
    try makeFolder()
    return try FileLock.wait(for: path + ".lock", limit: limit)
  }

  /// Makes the folder, and those above it, for the owner alone.
  package func makeFolder() throws(FileError) {
    try Self.makeFolder(folder)
  }

  /// The folder that the file is in.
  package var folder: String {
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    return folder.isEmpty ? "/" : folder
  }

  /// Whether there is something at the path.
  package var isThere: Bool { access(path, F_OK) == 0 }

  /// Whether its folder is there and files may be made in it.
  package var isInWritableFolder: Bool { access(folder, W_OK) == 0 }

  private static func makeFolder(_ folder: String) throws(FileError) {
    guard access(folder, F_OK) != 0 else { return }
    if let slash = folder.lastIndex(of: "/"), slash != folder.startIndex {
      try makeFolder(String(folder[..<slash]))
    }
    guard mkdir(folder, 0o700) == 0 else {
      guard errno == EEXIST else { throw FileError(call: "mkdir") }
      return
    }
    // Whatever the process's umask took away.
    guard chmod(folder, 0o700) == 0 else { throw FileError(call: "chmod") }
    try PrivateFile(path: folder).syncFolder()
  }

  private func refuseLink() throws(FileError) {
    if let status = try FileStatus(at: path), !status.isRegular { throw Self.link }
  }

  /// Why the system does not let this user read the file.
  private var denied: FileError {
    let failure = FileError(call: "open", code: EACCES)
    do throws(FileError) {
      // Without a status it is a folder on the way that is closed.
      guard let status = try FileStatus(at: path) else { return failure }
      _ = try trust.needsMending(status)
      return FileError("\(failure); set its mode to 0600", code: EACCES)
    } catch {
      return error.code == EPERM ? error : failure
    }
  }

  private static let link = FileError(
    "a symbolic link, a folder, a pipe or a device is in its place, which is refused", code: ELOOP)

  /// Makes what was named, renamed or removed in the folder survive a loss of power.
  package func syncFolder() throws(FileError) {
    let descriptor = try FileDescriptor.folder(folder)
    defer { descriptor.close() }
    try descriptor.sync()
  }
}
