import SQBasics
package import SQFoundation
import SQLibC

extension URL {
  /// The path of a file for a system call.
  ///
  /// If the current folder's name is not UTF-8, a relative URL contains a changed name and would
  /// name another folder, so this throws.
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

  /// Creates the URL of a file from its path, without replacing a `~`.
  ///
  /// `URL(filePath:)` replaces a `~` at the start of a path with the home folder, and `~name` with
  /// the home folder of another user. In a program's input, `~` is an ordinary character: a shell
  /// has already replaced it where it had a meaning, or a server may have chosen it.
  package init(unexpandedPath path: String) {
    self.init(filePath: path.hasPrefix("~") ? "./" + path : path)
  }
}
