import SQBasics
import SQFiles
import SequencingOAuth

/// The file of a database, found or created so that only its owner can read it.
struct DatabaseFile {
  /// The absolute path of the database; symbolic links may lead to its folder.
  let path: String

  private var file: PrivateFile { PrivateFile(path: path) }

  /// Finds or creates the database, and returns its path without symbolic links.
  ///
  /// It throws for files that other users can write.
  ///
  /// If the database is missing, the closure gets the path of an empty file and turns it into a
  /// database.
  func find(
    orMake make: (_ emptyFile: String) throws(SQOAuthError) -> Void
  ) throws(SQOAuthError) -> String {
    try FileFailure.reported("its folder cannot be used") { () throws(FileFailure) in
      try file.refuseFolder()
      try file.makeFolder()
    }
    let folder = try making { () throws(FileFailure) in try file.realFolder() }
    let place = "\(folder)/\(file.name)"
    if try isThere(place) { finishPutting(place) } else { try put(make, place) }
    // SQLite trusts the log and the journal as much as the database.
    for path in Self.files(of: place) { _ = try status(path) }
    return place
  }

  /// Returns whether the file exists; throws if a link or a folder is in its place.
  private func isThere(_ place: String) throws(SQOAuthError) -> Bool {
    try status(place) != nil
  }

  /// Returns a file's status, or `nil` if there is no file; throws if the file cannot be trusted.
  private func status(
    _ place: String
  ) throws(SQOAuthError) -> (needsMending: Bool, size: Int64)? {
    let name = PrivateFile(path: place).name
    return try FileFailure.reported("\(name.printable) cannot be used") { () throws(FileFailure) in
      guard let status = try FileStatus(at: place) else { return nil }
      return (try FileTrust.database.needsMending(status), status.size)
    }
  }

  /// Creates a database under a temporary name and then moves it to its path.
  ///
  /// No process ever sees an incomplete database. If another process has created a database at the
  /// path in the meantime, that database stays. The temporary name is always the same, so that the
  /// next call removes what a killed process has left.
  private func put(
    _ make: (String) throws(SQOAuthError) -> Void, _ place: String
  ) throws(SQOAuthError) {
    // SQLite would apply an old log or journal to the new database.
    for rest in ["-wal", "-journal"] where try (status(place + rest)?.size ?? 0) > 0 {
      // The file may belong to a database that another process has created in the meantime.
      if try isThere(place) { return }
      throw SQOAuthError(
        .storeDamaged,
        "it is missing, but its file that ends in \(rest) exists and was not changed; to start "
          + "with an empty database, remove that file too")
    }
    let lock = try making { () throws(FileFailure) in try PrivateFile(path: place).lock() }
    defer { lock.remove() }
    if try isThere(place) { return }
    let temporary = Self.temporary(place)
    try making { () throws(FileFailure) in
      // SQLite would apply an old log or journal to the new database, as above.
      for rest in Self.files(of: temporary.path).dropFirst() {
        try PrivateFile(path: rest).remove()
      }
      // SQLite gives its other files the mode of this file.
      try FileDescriptor.making(temporary.path).close()
    }
    defer { try? temporary.remove() }
    try make(temporary.path)
    try making { () throws(FileFailure) in
      try temporary.sync()
      _ = try PrivateFile(path: place).place(temporary.path)
    }
  }

  /// Removes the temporary name of a database whose creator was killed just before it did so.
  private func finishPutting(_ place: String) {
    let temporary = Self.temporary(place)
    if (try? FileStatus.areSame(temporary.path, place)) == true { try? temporary.remove() }
  }

  private static func temporary(_ place: String) -> PrivateFile {
    PrivateFile(path: place + ".sq.new")
  }

  /// Returns the paths of a database's files; some of the files may not exist.
  static func files(of place: String) -> [String] {
    ["", "-wal", "-shm", "-journal"].map { place + $0 }
  }

  /// Removes other users' access from the files of a database that is known to be the SDK's.
  ///
  /// This method opens no file: if a process closes a descriptor for one of SQLite's files, it
  /// loses all its locks on that file.
  func keepToOwner(_ place: String) throws(SQOAuthError) {
    for path in Self.files(of: place) {
      guard try status(path)?.needsMending == true else { continue }
      try FileFailure.reported("other users' access to its files cannot be removed") {
        () throws(FileFailure) in try PrivateFile(path: path).closeToOthers()
      }
    }
  }

  private func making<Value>(
    _ calls: () throws(FileFailure) -> Value
  ) throws(SQOAuthError) -> Value {
    try FileFailure.reported("it cannot be created or opened", calls)
  }
}
