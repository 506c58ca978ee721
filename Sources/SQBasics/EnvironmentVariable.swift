#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The variables of the process's environment, whose values need not be text.
package enum EnvironmentVariable {
  /// The error if a variable's value is not text in UTF-8.
  ///
  /// Swift's own list of variables has another character in place of such bytes, so a path would be
  /// another file's, and a passphrase another one.
  package struct NotText: Error, Sendable, Equatable, CustomStringConvertible {
    package let name: String

    package init(name: String) {
      self.name = name
    }

    package var description: String { "the variable \(name) is not text in UTF-8" }
  }

  /// The value of a variable; `nil` if it is not set.
  package static func text(_ name: String) throws(NotText) -> String? {
    guard let value = getenv(name) else { return nil }
    guard let text = String(validatingCString: value) else { throw NotText(name: name) }
    return text
  }

  /// The bytes of a variable's value, with the zero at their end; `nil` if it is not set.
  package static func bytes(_ name: String) -> [CChar]? {
    getenv(name).map { Array(UnsafeBufferPointer(start: $0, count: strlen($0) + 1)) }
  }
}
