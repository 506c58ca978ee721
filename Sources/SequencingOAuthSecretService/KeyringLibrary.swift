import CSQSecret
import SQBasics
import SQLibC

/// libsecret with GLib, GObject and GIO, loaded when a keyring is used for the first time.
///
/// Programs are not linked with these libraries, because loading them would take an eighth of the
/// start time of a program that keeps its token in a file. Besides, a machine without a keyring
/// does not need them.
final class KeyringLibrary: @unchecked Sendable {
  /// The loaded libraries by file name; a test may load another file than the system's library.
  private static let loaded = Locked<[String: KeyringLibrary]>([:])

  /// The C functions, each under its own name.
  var c: SQSecretFunctions { functions.pointee }
  private let functions: UnsafePointer<SQSecretFunctions>

  /// Loads a library file, or the system's library if `file` is `nil`, unless it is already loaded.
  ///
  /// The library stays loaded until the process ends. Any thread may call this method. After a
  /// failure, the next call tries again, because the library may have been installed meanwhile.
  static func load(_ file: String?) throws(KeyringFailure) -> KeyringLibrary {
    // Loading libsecret also loads the libraries that it needs.
    let file = file ?? "libsecret-1.so.0"
    return try loaded.withLock { loaded throws(KeyringFailure) in
      if let library = loaded[file] { return library }
      let library = try KeyringLibrary(opening: file)
      loaded[file] = library
      return library
    }
  }

  private init(opening file: String) throws(KeyringFailure) {
    // RTLD_NOW resolves all symbols: an incomplete library fails here and does not crash later.
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
