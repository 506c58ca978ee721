#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Reads and writes the bytes of an open file, however many system calls that takes.
enum FileBytes {
  /// The bytes from where the file stands to its end, or the first so many of them.
  static func read(_ file: Int32, atMost limit: Int) throws(FileError) -> Data {
    var content = Data()
    var buffer = [UInt8](repeating: 0, count: min(limit, 64 * 1024))
    while content.count < limit {
      let room = min(buffer.count, limit - content.count)
      let count = restarting { readSome(file, &buffer, room) }
      guard count >= 0 else { throw FileError(call: "read", errno: errno) }
      guard count > 0 else { break }
      content.append(contentsOf: buffer[..<count])
    }
    return content
  }

  static func write(_ content: Data, to file: Int32) throws(FileError) {
    let failure: Int32? = content.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = restarting { writeSome(file, UnsafeRawBufferPointer(rebasing: rest)) }
        guard count > 0 else { return errno }
        rest = rest.dropFirst(count)
      }
      return nil
    }
    if let failure { throw FileError(call: "write", errno: failure) }
  }

  private static func readSome(_ file: Int32, _ buffer: inout [UInt8], _ count: Int) -> Int {
    buffer.withUnsafeMutableBytes { bytes in
      #if canImport(Glibc)
        Glibc.read(file, bytes.baseAddress, count)
      #else
        Darwin.read(file, bytes.baseAddress, count)
      #endif
    }
  }

  private static func writeSome(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Glibc)
      Glibc.write(file, bytes.baseAddress, bytes.count)
    #else
      Darwin.write(file, bytes.baseAddress, bytes.count)
    #endif
  }

  private static func restarting(_ call: () -> Int) -> Int {
    while true {
      let result = call()
      if result >= 0 || errno != EINTR { return result }
    }
  }
}
