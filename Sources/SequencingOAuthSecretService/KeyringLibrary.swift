import CSQSecret
import Glibc
import SQBasics

/// libsecret with GLib, GObject and GIO, loaded when a keyring is used for the first time.
///
/// No program links them, since to load them takes an eighth of the start of a program that keeps
/// its token in a file, and a machine without a keyring need not have them.
final class KeyringLibrary: @unchecked Sendable {
  /// The libraries that were loaded, by the names of their files; tests load others than apps do.
  private static let loaded = Locked<[String: KeyringLibrary]>([:])

  /// The functions of C, each under its own name.
  var c: SQSecretFunctions { functions.pointee }
  private let functions: UnsafePointer<SQSecretFunctions>

  /// Loads the system's library or the one in a file, unless it is loaded; it stays loaded until the
  /// process ends.
  ///
  /// Any thread may call this. A failure is not remembered: a program that runs for long finds the
  /// library after it was installed.
  static func load(_ file: String?) throws(KeyringFailure) -> KeyringLibrary {
    // The libraries that it needs come with it.
    let file = file ?? "libsecret-1.so.0"
    return try loaded.withLock { loaded throws(KeyringFailure) in
      if let library = loaded[file] { return library }
      let library = try KeyringLibrary(opening: file)
      loaded[file] = library
      return library
    }
  }

  private init(opening file: String) throws(KeyringFailure) {
    // At once, so that a library that is not complete is an error here and no crash later.
    guard let library = dlopen(file, RTLD_NOW) else {
      throw .noLibrary(dlerror().map { String(cString: $0) } ?? file)
    }
    let functions = UnsafeMutablePointer<SQSecretFunctions>.allocate(capacity: 1)
    if let missing = sq_secret_functions_find(library, functions) {
      functions.deallocate()
      dlclose(library)
      throw .noFunction(String(cString: missing))
    }
    sq_secret_service_register(functions)
    self.functions = UnsafePointer(functions)
  }
}
