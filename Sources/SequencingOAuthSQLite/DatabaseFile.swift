import Basics
import SequencingOAuth

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Finds or creates the file of a database, whole and readable by its owner alone.
struct DatabaseFile {
  /// The path that the app gave.
  let path: String

  private var file: PrivateFile { PrivateFile(path: path) }

  /// The path, without symbolic links, of a database that exists now.
  ///
  /// If it is missing, the closure gets an empty file and makes a database of it.
  func find(
    orMake make: (_ emptyFile: String) throws(SQOAuthError) -> Void
  ) throws(SQOAuthError) -> String {
    do throws(FileError) {
      try file.makeFolder()
    } catch {
      throw SQOAuthError(.storeFailed, "its folder cannot be created (\(error))", cause: error)
    }
    guard let folder = realpath(file.folder, nil) else { throw failure("realpath") }
    defer { free(folder) }
    let place = "\(String(cString: folder))/\(path.split(separator: "/").last ?? "")"
    if try !isThere(place) { try put(make, place) }
    try keepToOwner(place)
    return place
  }

  /// Whether the file exists; a link or a folder in its place is an error.
  private func isThere(_ place: String) throws(SQOAuthError) -> Bool {
    try status(place) != nil
  }

  /// The status of a file that can be trusted, or `nil` if there is no file.
  private func status(
    _ place: String
  ) throws(SQOAuthError) -> (needsMending: Bool, size: Int64)? {
    do throws(FileError) {
      guard let status = try FileStatus(at: place) else { return nil }
      return (try FileTrust.database.needsMending(status), status.size)
    } catch {
      let part = place.split(separator: "/").last ?? ""
      throw SQOAuthError(
        .storeFailed, "\(String(part).printable) cannot be used (\(error))",
        cause: error)
    }
  }

  /// Creates a database under a temporary name and then gives it its place, so that no process ever
  /// sees a half-made one.
  ///
  /// If another database is in that place by then, it stays.
  private func put(
    _ make: (String) throws(SQOAuthError) -> Void, _ place: String
  ) throws(SQOAuthError) {
    // SQLite would take these files for the new database's own.
    for rest in ["-wal", "-journal"] where try (status(place + rest)?.size ?? 0) > 0 {
      // They belong to a database that another process has created since.
      if try isThere(place) { return }
      throw SQOAuthError(
        .storeDamaged,
        "it is missing, but its file that ends in \(rest) is there and is left as it is; to start "
          + "with an empty database, remove that file too")
    }
    let temporary = "\(place).\(getpid()).\(UInt32.random(in: 0...UInt32.max))"
    try makeEmpty(temporary)
    defer { unlink(temporary) }
    try make(temporary)
    try sync(temporary)
    // Unlike rename(2), this replaces nothing.
    guard link(temporary, place) == 0 else {
      guard errno == EEXIST else { throw failure("link") }
      return
    }
    do throws(FileError) {
      try file.syncFolder()
    } catch {
      throw SQOAuthError(.storeFailed, "it cannot be created (\(error))", cause: error)
    }
  }

  private func makeEmpty(_ path: String) throws(SQOAuthError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure("open") }
    defer { close(descriptor) }
    // Restores the bits that the umask removed. SQLite gives its other files the same mode.
    guard fchmod(descriptor, 0o600) == 0 else { throw failure("fchmod") }
  }

  private func sync(_ path: String) throws(SQOAuthError) {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("open") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure("fsync") }
  }

  /// Refuses files that may contain what other users wrote, and closes all others to other users.
  ///
  /// SQLite trusts the log and the journal as it trusts the database. This opens no file: when a
  /// process closes a descriptor for one of SQLite's files, it loses all its locks on that file.
  private func keepToOwner(_ place: String) throws(SQOAuthError) {
    for path in ["", "-wal", "-shm", "-journal"].map({ place + $0 }) {
      guard try status(path)?.needsMending == true else { continue }
      // On a read-only file system the rights cannot be changed, and are the administrator's
      // choice.
      guard chmod(path, 0o600) == 0 || errno == EROFS else { throw failure("chmod") }
    }
  }

  private func failure(_ call: String) -> SQOAuthError {
    let reason = String(cString: strerror(errno))
    return SQOAuthError(.storeFailed, "it cannot be created or opened (\(call): \(reason))")
  }
}
