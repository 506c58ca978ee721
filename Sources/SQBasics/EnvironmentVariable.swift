import SQLibC

/// Functions that read the process's environment variables as text or as bytes.
package enum EnvironmentVariable {
  /// The error for a variable whose value is not valid UTF-8.
  ///
  /// Swift's own list of variables replaces invalid bytes with another character. A path would then
  /// name a different file, and a passphrase would be wrong.
  package struct NotText: Error, Sendable, Equatable, CustomStringConvertible {
    package let name: String

    package init(name: String) {
      self.name = name
    }

    package var description: String { "the variable \(name) is not text in UTF-8" }
  }

  /// Returns the value of a variable; `nil` if it is not set.
  package static func text(_ name: String) throws(NotText) -> String? {
    guard let value = getenv(name) else { return nil }
    guard let text = String(validatingCString: value) else { throw NotText(name: name) }
    return text
  }

  /// Returns the bytes of a variable's value with their final zero; `nil` if it is not set.
  package static func bytes(_ name: String) -> [CChar]? {
    getenv(name).map { Array(UnsafeBufferPointer(start: $0, count: strlen($0) + 1)) }
  }
}
