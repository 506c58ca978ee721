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
    do throws(FileReading.ReadError) {
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

  private static func read(_ path: String) throws(FileReading.ReadError) -> String {
    // Longer than any secret, and short enough for a path that never ends.
    let bytes = try FileReading.start(of: path, atMost: 64 * 1024)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw FileReading.ReadError("it is not text in UTF-8")
    }
    return text
  }
}
