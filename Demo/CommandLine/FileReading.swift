import SQBasics
import SQFiles
import SQLibC

/// Functions that read files and standard input, with an error in words.
enum FileReading {
  /// The maximum time in milliseconds until a wait notices an interruption.
  private static let pollInterval: Int32 = 100

  /// The reason why a read failed.
  struct ReadError: Error, CustomStringConvertible {
    let description: String
    /// Whether the wait for a pipe or a terminal was interrupted by a signal.
    let isInterruption: Bool

    init(_ description: String, isInterruption: Bool = false) {
      self.description = description
      self.isInterruption = isInterruption
    }

    /// The error of the last system call.
    static var last: ReadError { ReadError(CLibrary.meaning(of: errno)) }
  }

  /// Reads a file of at most `limit` bytes.
  ///
  /// If `isKey` returns `true` for its content, the file is checked like the file of a private key.
  static func content(
    of path: String, atMost limit: Int, isKey: ([UInt8]) -> Bool = { _ in false }
  ) throws(ReadError) -> [UInt8] {
    let file = try opened(path)
    defer { close(file) }
    let content = try whole(file, atMost: limit)
    if isKey(content) { try checkTrust(in: file) }
    return content
  }

  /// Reads a file with a private key, and checks the file like a store's key file.
  ///
  /// A pipe is read without a check.
  static func key(of path: String, atMost limit: Int) throws(ReadError) -> [UInt8] {
    try content(of: path, atMost: limit) { _ in true }
  }

  /// Rejects a key's file if users other than this user and root could have written or read it.
  private static func checkTrust(in file: Int32) throws(ReadError) {
    let status = try status(of: file)
    guard status.isRegular else { return }
    let user = geteuid()
    guard [user, 0].contains(status.owner) else {
      throw ReadError(
        "it belongs to user \(status.owner), who may change it, and this program runs as user "
          + "\(user): run the program as that user, or change the file's owner with chown")
    }
    do throws(FileFailure) {
      // The reader of the content has its own limit of the size.
      let trusted = FileStatus(owner: status.owner, mode: status.mode)
      _ = try FileTrust.key.needsMending(trusted, user: user)
    } catch {
      throw ReadError(error.description)
    }
  }

  /// Reads the start of a file with a secret, and rejects this user's own file if other users can
  /// read it.
  ///
  /// A pipe and a file of another owner or of root are read without this check, because that owner
  /// decides who may read the file.
  static func secret(of path: String, atMost limit: Int) throws(ReadError) -> [UInt8] {
    let file = try opened(path)
    defer { close(file) }
    try checkReaders(of: file)
    return try bytes(of: file, atMost: limit)
  }

  /// Rejects this user's own file if other users can read it.
  private static func checkReaders(of file: Int32) throws(ReadError) {
    let status = try status(of: file)
    // Root's files are exempt: in a container, they may be secrets that all of its users may read.
    let isOwn = status.owner == geteuid() && status.owner != 0
    guard !status.isRegular || !isOwn || status.isClosedToOthers else {
      throw ReadError(
        "other users can read or change it (its mode is "
          + "0\(String(status.mode & 0o777, radix: 8))), so they may have its secret: create a "
          + "new secret if you do not trust them, and set the file's mode with chmod 600")
    }
  }

  /// Reads a pipe, a device or another source that can be read only once, and returns `nil` for a
  /// file that is not empty.
  ///
  /// It waits until the writer of a pipe has finished.
  static func stream(at path: String, atMost limit: Int) throws(ReadError) -> [UInt8]? {
    let file = try opened(path)
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw .last }
    switch status.st_mode & S_IFMT {
    case S_IFDIR: throw ReadError("it is a folder")
    // Files of the system, such as those in /proc, have content although their size is 0.
    case S_IFREG where status.st_size > 0: return nil
    default: return try whole(file, atMost: limit)
    }
  }

  /// Returns whether a path leads to a regular file, also through a link.
  static func isFile(_ path: String) -> Bool {
    var status = stat()
    return lookUp(path, &status) == 0 && FileStatus(status).isRegular
  }

  /// Returns whether anything exists at a path, even a broken link.
  ///
  /// If the check fails, the result is `true`: a later use of the path then fails and says why.
  static func isThere(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 || errno != ENOENT
  }

  /// Reads standard input to its end.
  static func input(atMost limit: Int) throws(ReadError) -> [UInt8] {
    guard !StandardStreams.inputWasClosed else { throw ReadError("standard input is closed") }
    return try whole(0, atMost: limit)
  }

  private static func whole(_ file: Int32, atMost limit: Int) throws(ReadError) -> [UInt8] {
    let content = try bytes(of: file, atMost: limit + 1)
    guard content.count <= limit else { throw ReadError("it is longer than \(limit) bytes") }
    return content
  }

  private static func status(of file: Int32) throws(ReadError) -> FileStatus {
    var status = stat()
    guard fstat(file, &status) == 0 else { throw .last }
    return FileStatus(status)
  }

  private static func opened(_ path: String) throws(ReadError) -> Int32 {
    // Without O_NONBLOCK, opening a pipe would wait for its writer and could not be interrupted.
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { throw .last }
    return file
  }

  private static func bytes(of file: Int32, atMost limit: Int) throws(ReadError) -> [UInt8] {
    var content: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: min(limit, 64 * 1024))
    while content.count < limit {
      try waitForContent(of: file)
      let room = min(buffer.count, limit - content.count)
      let count = buffer.withUnsafeMutableBytes { read(file, $0.baseAddress, room) }
      guard count >= 0 || [EINTR, EAGAIN].contains(errno) else { throw .last }
      guard count != 0 else { break }
      content += buffer[..<max(count, 0)]
    }
    return content
  }

  /// Waits until there are bytes to read or the end is reached.
  ///
  /// - Throws: A ``ReadError`` with `isInterruption` if the task is cancelled first.
  private static func waitForContent(of file: Int32) throws(ReadError) {
    var request = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
    while poll(&request, 1, pollInterval) == 0 {
      if Task.isCancelled { throw ReadError("it was interrupted", isInterruption: true) }
    }
  }
}

extension Failure {
  /// Returns the failure for a file of the command line that cannot be read.
  private static func unreadable(_ what: String, _ error: FileReading.ReadError) -> Failure {
    error.isInterruption ? .interrupted : .usage("\(what.onScreen) cannot be read: \(error)")
  }

  /// Reads a file of the command line, and names it in the failure.
  static func reading<Value>(
    _ what: String, _ body: () throws(FileReading.ReadError) -> Value
  ) throws(Failure) -> Value {
    do throws(FileReading.ReadError) {
      return try body()
    } catch {
      throw .unreadable(what, error)
    }
  }
}

/// Calls the function `stat`; in Swift a type has the same name.
private func lookUp(_ path: String, _ status: inout stat) -> Int32 { stat(path, &status) }
