#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Reads files and standard input, with the reason where that fails.
enum FileReading {
  /// Why it failed.
  struct ReadError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
      self.description = description
    }

    /// What the last system call reported.
    static var last: ReadError { ReadError(String(cString: strerror(errno))) }
  }

  /// The start of a file, which may be one that never ends.
  static func start(of path: String, atMost limit: Int) throws(ReadError) -> [UInt8] {
    let file = try opened(path)
    defer { close(file) }
    return try bytes(of: file, atMost: limit)
  }

  /// Makes sure that a file can be read.
  static func check(_ path: String) throws(ReadError) {
    let file = try opened(path)
    defer { close(file) }
    var kind = stat()
    guard fstat(file, &kind) == 0 else { throw .last }
    if kind.st_mode & S_IFMT == S_IFDIR { throw ReadError("it is a folder") }
  }

  /// Whether there is something of that name, be it a link that leads nowhere.
  ///
  /// What cannot be looked at counts as there: who uses it finds out why.
  static func isThere(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 || (errno != ENOENT && errno != ENOTDIR)
  }

  /// All of standard input.
  static func input(atMost limit: Int) throws(ReadError) -> [UInt8] {
    let content = try bytes(of: 0, atMost: limit + 1)
    guard content.count <= limit else { throw ReadError("it is longer than \(limit) bytes") }
    return content
  }

  private static func opened(_ path: String) throws(ReadError) -> Int32 {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw .last }
    return file
  }

  private static func bytes(of file: Int32, atMost limit: Int) throws(ReadError) -> [UInt8] {
    var content: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: min(limit, 64 * 1024))
    while content.count < limit {
      let room = min(buffer.count, limit - content.count)
      let count = buffer.withUnsafeMutableBytes { read(file, $0.baseAddress, room) }
      guard count >= 0 || errno == EINTR else { throw .last }
      guard count != 0 else { break }
      content += buffer[..<max(count, 0)]
    }
    return content
  }
}
