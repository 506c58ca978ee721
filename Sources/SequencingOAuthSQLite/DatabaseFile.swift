import SQBasics
import SQFiles
import SequencingOAuth

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
    try FileFailure.reported("its folder cannot be created") { () throws(FileFailure) in
      try file.refuseFolder()
      try file.makeFolder()
    }
    let folder = try making { () throws(FileFailure) in try file.realFolder() }
    let place = "\(folder)/\(path.split(separator: "/").last ?? "")"
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
    let name = String(place.split(separator: "/").last ?? "")
    return try FileFailure.reported("\(name.printable) cannot be used") { () throws(FileFailure) in
      guard let status = try FileStatus(at: place) else { return nil }
      return (try FileTrust.database.needsMending(status), status.size)
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
    let temporary = PrivateFile(path: "\(place).\(UInt64.random(in: 0...UInt64.max))")
    // SQLite gives its other files the mode of this one.
    try making { () throws(FileFailure) in try FileDescriptor.making(temporary.path).close() }
    defer { try? temporary.remove() }
    try make(temporary.path)
    try making { () throws(FileFailure) in
      try temporary.sync()
      _ = try PrivateFile(path: place).place(temporary.path)
    }
  }

  /// Refuses files that may contain what other users wrote, and closes all others to other users.
  ///
  /// SQLite trusts the log and the journal as it trusts the database. This opens no file: when a
  /// process closes a descriptor for one of SQLite's files, it loses all its locks on that file.
  private func keepToOwner(_ place: String) throws(SQOAuthError) {
    for path in ["", "-wal", "-shm", "-journal"].map({ place + $0 }) {
      guard try status(path)?.needsMending == true else { continue }
      try making { () throws(FileFailure) in try PrivateFile(path: path).closeToOthers() }
    }
  }

  private func making<Value>(
    _ calls: () throws(FileFailure) -> Value
  ) throws(SQOAuthError) -> Value {
    try FileFailure.reported("it cannot be created or opened", calls)
  }
}
