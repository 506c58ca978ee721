import SQBasics

/// The folder for files that a program needs at its next start.
///
/// - SeeAlso: XDG Base Directory Specification; systemd.exec(5), `StateDirectory=`
package enum StateFolder {
  /// A function that returns the value of an environment variable.
  typealias Lookup = (String) throws(EnvironmentVariable.NotText) -> String?

  /// Returns the path of a service's folder; the folder need not exist yet.
  package static func path(service: String) throws(SQOAuthError) -> String {
    try path(service: service) { name throws(EnvironmentVariable.NotText) in
      try EnvironmentVariable.text(name)
    }
  }

  /// Returns the path of a service's folder; a test can pass its own environment variables.
  static func path(
    service: String, variable: Lookup
  ) throws(SQOAuthError) -> String {
    // A combining character may follow a slash or a dot, so this compares bytes.
    guard let first = service.utf8.first, first != UInt8(ascii: "."),
      !service.utf8.contains(UInt8(ascii: "/")), !service.utf8.contains(0)
    else {
      throw SQOAuthError(
        .invalidConfiguration,
        "a service name must not be empty, begin with a dot, or contain a slash or a NUL")
    }
    // The XDG specification requires programs to ignore a relative path.
    if let state = try value("XDG_STATE_HOME", variable), isAbsolute(state) {
      return "\(state)/\(service)"
    }
    let home = try value("HOME", variable)
    if let home, isAbsolute(home) { return "\(home)/.local/state/\(service)" }
    // The user of a system service may have no home folder. `STATE_DIRECTORY` may name several
    // folders.
    let states = try value("STATE_DIRECTORY", variable)?.utf8.split(separator: UInt8(ascii: ":"))
    if let state = states?.first.map({ String(Substring($0)) }), isAbsolute(state) {
      return "\(state)/\(service)"
    }
    let reason = home?.isEmpty == false ? ": the path in HOME is not absolute" : ""
    throw SQOAuthError(
      .storeFailed,
      "there is no folder to keep files in\(reason); set HOME or XDG_STATE_HOME to an absolute "
        + "path, or StateDirectory= in a unit of systemd")
  }

  private static func isAbsolute(_ path: String) -> Bool {
    path.utf8.first == UInt8(ascii: "/")
  }

  private static func value(_ name: String, _ variable: Lookup) throws(SQOAuthError) -> String? {
    do throws(EnvironmentVariable.NotText) {
      return try variable(name)
    } catch {
      throw SQOAuthError(
        .storeFailed,
        "there is no folder to keep files in: \(error); set it to a path in UTF-8", cause: error)
    }
  }
}
