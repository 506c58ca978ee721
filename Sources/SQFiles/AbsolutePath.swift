import SQLibC

/// Paths that lead to the same file after the process has changed its working directory.
package enum AbsolutePath {
  /// Returns the absolute path of a file; symbolic links stay in it.
  ///
  /// Call it once for each path that an app passes and that is used more than once, such as the
  /// path of a store. Derive all other paths from the result. Otherwise, a chdir(2) would separate
  /// the store's files from its lock files.
  ///
  /// An empty path is returned as it is. So is a relative path if the working directory has no path
  /// that this process can use: the directory was removed, its path is not UTF-8, or this user may
  /// not search a folder above it.
  ///
  /// - SeeAlso: getcwd(3)
  package static func of(_ path: String) -> String {
    // The character after the slash may be a combining one, so this compares bytes.
    guard let first = path.utf8.first, first != UInt8(ascii: "/"), let folder = workingFolder else {
      return path
    }
    let isHere = path.utf8.starts(with: "./".utf8)
    let name = isHere ? Substring(path.unicodeScalars.dropFirst(2)) : path[...]
    return "\(folder == "/" ? "" : folder)/\(name)"
  }

  /// The path of the working directory; `nil` if no usable path leads to it.
  private static var workingFolder: String? {
    guard let bytes = getcwd(nil, 0) else { return nil }
    defer { free(bytes) }
    guard let folder = String(validatingCString: bytes),
      (try? FileStatus.areSame(folder, ".")) == true
    else { return nil }
    return folder
  }
}
