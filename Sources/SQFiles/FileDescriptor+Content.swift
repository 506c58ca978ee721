package import SQFoundation
import SQLibC

/// Methods that read and write the content of an open file.
extension FileDescriptor {
  /// Reads the file at a path, but at most `limit` bytes.
  ///
  /// If the path is a symbolic link and `followsLink` is `false`, throws the error `ELOOP`.
  package static func content(
    of path: String, followsLink: Bool = false, atMost limit: Int
  ) throws(FileFailure) -> Data {
    let file = try reading(path, followsLink: followsLink)
    defer { file.close() }
    return try file.content(atMost: limit)
  }

  /// Reads from the current position to the end of the file, but at most `limit` bytes.
  package func content(atMost limit: Int) throws(FileFailure) -> Data {
    // Without this capacity, a large file's content would be copied many times while it is read.
    var content = Data(capacity: min(limit, Int(try status().size)))
    var buffer = Data(count: min(limit, 64 * 1024))
    while content.count < limit {
      let count = try fill(&buffer)
      guard count > 0 else { break }
      content.append(buffer.prefix(min(count, limit - content.count)))
    }
    return content
  }

  /// Reads as many bytes as one system call returns; returns their number, 0 at the end of the
  /// file.
  package func fill(_ buffer: inout Data) throws(FileFailure) -> Int {
    let count = buffer.withUnsafeMutableBytes { bytes in
      restarting { readBytes(number, bytes.baseAddress, bytes.count) }
    }
    guard count >= 0 else { throw FileFailure(call: "read") }
    return count
  }

  /// Writes all of the content at the current position.
  package func write(_ content: Data) throws(FileFailure) {
    var rest = content
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { bytes in
        restarting { writeBytes(number, bytes.baseAddress, bytes.count) }
      }
      guard count > 0 else { throw FileFailure(call: "write") }
      rest = rest.dropFirst(count)
    }
  }

  /// Writes all of the content at an offset from the file's start, in bytes.
  package func write(_ content: Data, at offset: Int64) throws(FileFailure) {
    var done = 0
    while done < content.count {
      done += try writeSome(content.dropFirst(done), at: offset + Int64(done))
    }
  }

  /// Writes some of the content at an offset from the file's start, and returns the number of bytes
  /// written.
  package func writeSome(_ content: Data, at offset: Int64) throws(FileFailure) -> Int {
    let count = content.withUnsafeBytes { bytes in
      restarting { pwrite(number, bytes.baseAddress, bytes.count, off_t(offset)) }
    }
    guard count > 0 else { throw FileFailure(call: "pwrite") }
    return count
  }

  /// Reserves space on the disk for a file of this size, in bytes.
  package func reserve(_ size: Int) throws(FileFailure) {
    #if os(Linux)
      // Unlike other calls, this one returns its error instead of setting `errno`.
      var error = EINTR
      while error == EINTR { error = posix_fallocate(number, 0, off_t(size)) }
      guard error == 0 else { throw FileFailure(call: "posix_fallocate", code: error) }
    #else
      try truncate(to: Int64(size))
    #endif
  }

  package func truncate(to length: Int64) throws(FileFailure) {
    guard ftruncate(number, off_t(length)) == 0 else { throw FileFailure(call: "ftruncate") }
  }

  /// Writes the file to the disk, so that it survives a loss of power.
  package func sync() throws(FileFailure) {
    guard restarting({ Int(fsync(number)) }) == 0 else { throw FileFailure(call: "fsync") }
  }

  private func restarting(_ call: () -> Int) -> Int {
    while true {
      let result = call()
      if result >= 0 || errno != EINTR { return result }
    }
  }
}

// The system's functions. In a type with methods `read` and `write`, Swift would call the methods.
private func readBytes(_ file: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  read(file, bytes, count)
}

private func writeBytes(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(file, bytes, count)
}
