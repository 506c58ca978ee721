#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

extension URL {
  /// Creates the URL of a file from its path, as a system call would take the path.
  ///
  /// `URL(filePath:)` replaces a `~` at the start of a path with a home folder, and `~name` with that
  /// of another user. In a path that a program was given, `~` is a character like any other: a
  /// shell has replaced it already, and a server may have chosen it.
  package init(unexpandedPath path: String) {
    self.init(filePath: path.hasPrefix("~") ? "./" + path : path)
  }
}
