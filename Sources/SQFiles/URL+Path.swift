import SQBasics

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension URL {
  /// The path of a file, as a system call takes it.
  ///
  /// A URL has another character for bytes of the current folder's name that are not UTF-8, so a
  /// relative path would lead to another folder.
  package var systemPath: String {
    get throws(FileFailure) {
      let path = path(percentEncoded: false)
      guard baseURL != nil, path.unicodeScalars.contains("\u{FFFD}"),
        let folder = getcwd(nil, 0)
      else { return path }
      defer { free(folder) }
      guard String(validatingCString: folder) != nil else { throw .folderIsNotText }
      return path
    }
  }

  /// Creates the URL of a file from its path, as a system call would take the path.
  ///
  /// `URL(filePath:)` replaces a `~` at the start of a path with a home folder, and `~name` with that
  /// of another user. In a path that a program was given, `~` is a character like any other: a
  /// shell has replaced it already, and a server may have chosen it.
  package init(unexpandedPath path: String) {
    self.init(filePath: path.hasPrefix("~") ? "./" + path : path)
  }
}
