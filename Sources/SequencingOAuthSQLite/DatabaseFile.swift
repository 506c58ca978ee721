import SequencingOAuth

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Where a database is, and how it comes there: whole, and readable by its owner alone.
struct DatabaseFile {
  /// The path that the app gave.
  let path: String

  private var file: PrivateFile { PrivateFile(path: path) }

  /// The path without symbolic links, of a database that is there now: if it was not, it is made by
  /// a closure, which gets an empty file.
  func find(
    orMake make: (_ emptyFile: String) throws(SQOAuthError) -> Void
  ) throws(SQOAuthError) -> String {
    do throws(FileError) {
      try file.makeFolder()
    } catch {
      throw SQOAuthError(.storeFailed, "its folder cannot be made (\(error))", cause: error)
    }
    guard let folder = realpath(file.folder, nil) else { throw failure("realpath") }
    defer { free(folder) }
    let place = "\(String(cString: folder))/\(path.split(separator: "/").last ?? "")"
    if try !isThere(place) { try put(make, place) }
    try keepToOwner(place)
    return place
  }

  /// Whether there is a file; a link or a folder in its place is an error.
  private func isThere(_ place: String) throws(SQOAuthError) -> Bool {
    var status = stat()
    guard lstat(place, &status) == 0 else {
      guard errno == ENOENT else { throw failure("lstat") }
      return false
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw SQOAuthError(
        .storeFailed, "it is a symbolic link, a folder or a device, which is refused")
    }
    return true
  }

  /// Makes a database under a name of its own and gives it its place, unless another is there by
  /// then: so nobody ever sees a half-made one.
  private func put(
    _ make: (String) throws(SQOAuthError) -> Void, _ place: String
  ) throws(SQOAuthError) {
    // SQLite would take them for the new database's own.
    for rest in ["-wal", "-journal"] where Self.hasContent(place + rest) {
      // Of a database that somebody has made since.
      if try isThere(place) { return }
      throw SQOAuthError(
        .storeDamaged,
        "it is missing, but what ends in \(rest) is there and is left as it is; to begin anew, "
          + "remove that too")
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
      throw SQOAuthError(.storeFailed, "it cannot be made (\(error))", cause: error)
    }
  }

  private static func hasContent(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_size > 0
  }

  private func makeEmpty(_ path: String) throws(SQOAuthError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure("open") }
    defer { close(descriptor) }
    // Whatever the process's umask took away. SQLite gives its other files the same mode.
    guard fchmod(descriptor, 0o600) == 0 else { throw failure("fchmod") }
  }

  private func sync(_ path: String) throws(SQOAuthError) {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("open") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure("fsync") }
  }

  /// Takes from others what a copy or a careless hand gave them.
  private func keepToOwner(_ place: String) throws(SQOAuthError) {
    for path in [place, place + "-wal", place + "-shm"] {
      var status = stat()
      guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
        status.st_mode & 0o077 != 0
      else { continue }
      guard chmod(path, 0o600) == 0 else { throw failure("chmod") }
    }
  }

  private func failure(_ call: String) -> SQOAuthError {
    let reason = String(cString: strerror(errno))
    return SQOAuthError(.storeFailed, "it cannot be made or opened (\(call): \(reason))")
  }
}
