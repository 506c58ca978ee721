#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A client's secret: from the environment or a file, never from an argument, never printed.
struct ClientSecret: Sendable, CustomStringConvertible, CustomReflectable {
  static let variable = "SQ_CLIENT_SECRET"

  let value: String

  var description: String { "a client secret" }
  var customMirror: Mirror { Mirror(self, children: [:]) }

  init(_ value: String) {
    self.value = value
  }

  /// Reads the first line of a file.
  init(file path: String) throws(Failure) {
    let content: String
    do throws(ReadError) {
      content = try Self.read(path)
    } catch {
      throw .usage("the client secret file \(path.printable) cannot be read: \(error)")
    }
    // By bytes, since a carriage return and a newline are one Character.
    let line = content.utf8.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    guard !line.isEmpty else {
      throw .usage("the client secret file \(path.printable) has an empty first line")
    }
    value = String(Substring(line))
  }

  /// The secret in the environment, which is taken out of it: a browser must not inherit it.
  ///
  /// Call it before there is a second thread.
  static func takeFromEnvironment() -> ClientSecret? {
    guard let value = getenv(variable).map({ String(cString: $0) }) else { return nil }
    unsetenv(variable)
    return value.isEmpty ? nil : ClientSecret(value)
  }

  /// Says why a secret cannot be an argument, to a person who tries.
  static func refuseAsArgument(_ name: String) throws(Failure) {
    guard name == "--client-secret" || name == "--secret" else { return }
    throw .usage(
      "a secret is never an argument, since every user of the machine can see those; put it into "
        + "the environment variable \(variable), or into a file that --client-secret-file names")
  }

  private struct ReadError: Error, CustomStringConvertible {
    let description: String
  }

  private static func read(_ path: String) throws(ReadError) -> String {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw ReadError(description: String(cString: strerror(errno))) }
    defer { close(file) }
    // Longer than any secret, and short enough for a path that never ends.
    var bytes = [UInt8](repeating: 0, count: 64 * 1024)
    var count = 0
    while count < bytes.count {
      let more = bytes.withUnsafeMutableBytes { buffer in
        systemRead(file, buffer.baseAddress.map { $0 + count }, buffer.count - count)
      }
      guard more >= 0 || errno == EINTR else {
        throw ReadError(description: String(cString: strerror(errno)))
      }
      guard more != 0 else { break }
      count += max(more, 0)
    }
    guard let text = String(validating: bytes[..<count], as: UTF8.self) else {
      throw ReadError(description: "it is not text in UTF-8")
    }
    return text
  }
}

/// The call that ``ClientSecret`` has a function of the same name beside.
private func systemRead(_ file: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  read(file, bytes, count)
}
