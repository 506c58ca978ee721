import Basics
import SequencingOAuth

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
    try FileError.reported("its folder cannot be made") { () throws(FileError) in
      try file.makeFolder()
    }
    let folder = try making { () throws(FileError) in try file.realFolder() }
    let place = "\(folder)/\(path.split(separator: "/").last ?? "")"
    if try !isThere(place) { try put(make, place) }
    try keepToOwner(place)
    return place
  }

  /// Whether there is a file; a link or a folder in its place is an error.
  private func isThere(_ place: String) throws(SQOAuthError) -> Bool {
    try status(place) != nil
  }

  /// The status of a file that is believed, or `nil` if there is none.
  private func status(
    _ place: String
  ) throws(SQOAuthError) -> (needsMending: Bool, size: Int64)? {
    let name = String(place.split(separator: "/").last ?? "")
    return try FileError.reported("\(name.printable) cannot be used") { () throws(FileError) in
      guard let status = try FileStatus(at: place) else { return nil }
      return (try FileTrust.database.needsMending(status), status.size)
    }
  }

  /// Makes a database under a name of its own and gives it its place, unless another is there by
  /// then: so nobody ever sees a half-made one.
  private func put(
    _ make: (String) throws(SQOAuthError) -> Void, _ place: String
  ) throws(SQOAuthError) {
    // SQLite would take them for the new database's own.
    for rest in ["-wal", "-journal"] where try (status(place + rest)?.size ?? 0) > 0 {
      // Of a database that somebody has made since.
      if try isThere(place) { return }
      throw SQOAuthError(
        .storeDamaged,
        "it is missing, but what ends in \(rest) is there and is left as it is; to begin anew, "
          + "remove that too")
    }
    let temporary = PrivateFile(path: "\(place).\(UInt64.random(in: 0...UInt64.max))")
    // SQLite gives its other files the mode of this one.
    try making { () throws(FileError) in try FileDescriptor.making(temporary.path).close() }
    defer { try? temporary.remove() }
    try make(temporary.path)
    try making { () throws(FileError) in
      try temporary.sync()
      _ = try PrivateFile(path: place).place(temporary.path)
    }
  }

  /// Refuses files that may hold what other users wrote, and closes the others to them.
  ///
  /// SQLite believes the log and the journal as it believes the database. No file is opened for
  /// this: a process that closes one of SQLite's files loses all its locks on it.
  private func keepToOwner(_ place: String) throws(SQOAuthError) {
    for path in ["", "-wal", "-shm", "-journal"].map({ place + $0 }) {
      guard try status(path)?.needsMending == true else { continue }
      try making { () throws(FileError) in try PrivateFile(path: path).closeToOthers() }
    }
  }

  private func making<Value>(
    _ calls: () throws(FileError) -> Value
  ) throws(SQOAuthError) -> Value {
    try FileError.reported("it cannot be made or opened", calls)
  }
}
