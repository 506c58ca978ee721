package import SQFoundation
import SQLibC

/// A file with secrets, checked before it is read, and always replaced as a whole.
///
/// Every call blocks its thread for a limited time, so make it on a thread that may block. The SDK
/// refuses a symbolic link in the file's place.
package struct PrivateFile: Sendable {
  package let path: String
  private let trust: FileTrust

  package init(path: String) {
    self.init(path: path, trust: .tokens)
  }

  package init(path: String, trust: FileTrust) {
    self.path = path
    self.trust = trust
  }

  /// Reads the content; returns `nil` if the file does not exist.
  ///
  /// A file that other users can read gets the mode 0600, but only if `isOwn` recognizes its
  /// content. So a file of another program, whose path was given by mistake, keeps its mode.
  package func read(
    recognizing isOwn: (Data) -> Bool = { _ in true }
  ) throws(FileFailure) -> Data? {
    try refuseFolder()
    let file: FileDescriptor
    do throws(FileFailure) {
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
    let needsMending = try trust.check(file)
    // The file may grow while it is read.
    let content = try file.content(atMost: Int(trust.maximumBytes) + 1)
    guard content.count <= trust.maximumBytes else { throw trust.tooLarge }
    if needsMending, isOwn(content) { try FileTrust.mend(file) }
    return content
  }

  /// Replaces the content.
  ///
  /// When it returns, the new content survives a loss of power. Only one process may replace a file
  /// at a time. The content is first written to a temporary file with a fixed name, so if the
  /// process is killed, the next replacement removes that copy of the secrets.
  ///
  /// - SeeAlso: rename(2), fsync(2)
  package func replace(with content: Data) throws(FileFailure) {
    try replace(path, with: content)
  }

  private func replace(_ place: String, with content: Data) throws(FileFailure) {
    // Content above the size limit could not be read again, so it must not replace other content.
    guard content.count <= trust.maximumBytes else { throw trust.tooLarge }
    try makeFolder()
    try refuseLink()
    let temporary = path + ".sq.new"
    let file = try FileDescriptor.making(temporary, needsMode: trust.needsMode)
    do throws(FileFailure) {
      defer { file.close() }
      try file.write(content)
      try file.sync()
      guard rename(temporary, place) == 0 else { throw FileFailure(call: "rename") }
    } catch {
      unlink(temporary)
      throw error
    }
    // The new name is on the disk only after the folder is synced.
    try syncFolder()
  }

  /// Checks that the content can be replaced, by replacing it with itself.
  ///
  /// If the file is missing, this creates its folder and does the check with a temporary file. Only
  /// one process may do this at a time, as with ``replace(with:)``.
  package func checkReplacing() throws(FileFailure) {
    if let content = try read() { return try replace(with: content) }
    // Try the steps of a first and a second save, with names as long as those of a real save.
    let place = path + ".sq.try"
    try makeFolder()
    // A process that was killed during these steps may have left this file; `making` replaces it.
    try FileDescriptor.making(place).close()
    defer { unlink(place) }
    for content in [Data("1".utf8), Data("2".utf8)] { try replace(place, with: content) }
    guard try PrivateFile(path: place, trust: trust).read() == Data("2".utf8) else {
      throw FileFailure(
        "its file system keeps the old file when a new one takes its name: choose another folder",
        code: EIO)
    }
  }

  /// Removes the file, if it exists.
  package func remove() throws(FileFailure) {
    guard unlink(path) == 0 || errno == ENOENT else { throw FileFailure(call: "unlink") }
  }

  /// Locks the file by a second file beside it, because a rename replaces the file itself.
  ///
  /// The limit counts as for ``FileLock/wait(for:limit:)``.
  ///
  /// - Throws: After the time limit, an error that names the lock file and its holder.
  package func lock(limit: Duration = .seconds(30)) throws(FileFailure) -> FileLock {
    try refuseFolder()
    try makeFolder()
    return try FileLock.wait(for: path + ".lock", limit: limit)
  }

  /// Creates the file's folder and the missing folders above it, with access for the owner only.
  package func makeFolder() throws(FileFailure) {
    try Self.makeFolder(folder)
  }

  /// The path of the folder that contains the file.
  package var folder: String {
    let folder = path.unicodeScalars.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    return folder.isEmpty ? "/" : folder
  }

  /// The file's name, without its folder.
  ///
  /// The character after a slash may be a combining one, so slashes are found among the scalars.
  package var name: String {
    let scalars = path.unicodeScalars
    return scalars.lastIndex(of: "/").map { String(path[scalars.index(after: $0)...]) } ?? path
  }

  /// Returns whether a file of any kind exists at the path; throws if this cannot be found out.
  package func exists() throws(FileFailure) -> Bool { try FileStatus(at: path) != nil }

  private static func makeFolder(_ folder: String) throws(FileFailure) {
    guard access(folder, F_OK) != 0 else { return }
    if let slash = folder.unicodeScalars.lastIndex(of: "/"), slash != folder.startIndex {
      try makeFolder(String(folder[..<slash]))
    }
    guard mkdir(folder, 0o700) == 0 else {
      guard errno == EEXIST else { throw FileFailure(call: "mkdir") }
      return
    }
    // The process's umask may have removed permissions.
    guard chmod(folder, 0o700) == 0 else { throw FileFailure(call: "chmod") }
    try PrivateFile(path: folder).syncFolder()
  }

  /// Throws if the path ends like a folder's path, with a slash or a dot.
  package func refuseFolder() throws(FileFailure) {
    guard !["", ".", ".."].contains(name) else {
      throw FileFailure(
        "a path that ends with a slash or a dot names a folder: add the name of a file",
        code: EISDIR)
    }
  }

  private func refuseLink() throws(FileFailure) {
    try refuseFolder()
    if let status = try FileStatus(at: path), !status.isRegular { throw Self.link }
  }

  /// An error with the reason why this user may not read the file.
  private var denied: FileFailure {
    let failure = FileFailure(call: "open", code: EACCES)
    do throws(FileFailure) {
      // If the status cannot be read, this user has no access to a folder above the file.
      guard let status = try FileStatus(at: path) else { return failure }
      _ = try trust.needsMending(status)
      return FileFailure("\(failure); set its mode to 0600", code: EACCES)
    } catch {
      return error.code == EPERM ? error : failure
    }
  }

  private static let link = FileFailure(
    "a symbolic link, a folder, a pipe or a device is in its place; the SDK uses only ordinary "
      + "files", code: ELOOP)

  /// Writes the folder to the disk, so that its files' names survive a loss of power.
  ///
  /// Some file systems cannot sync a folder, and a program may use some folders that it cannot open.
  /// That is no error, because the names are then written as on a system without this call.
  ///
  /// - SeeAlso: fsync(2)
  package func syncFolder() throws(FileFailure) {
    do throws(FileFailure) {
      let descriptor = try FileDescriptor.folder(folder)
      defer { descriptor.close() }
      try descriptor.sync()
    } catch {
      guard [EINVAL, EBADF, EACCES].contains(error.code) else { throw error }
    }
  }
}
