#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Finds the folder for files that a program needs again at its next start.
///
/// - SeeAlso: XDG Base Directory Specification; systemd.exec(5), `StateDirectory=`
package enum StateFolder {
  /// Returns the path of a service's folder, which need not exist yet.
  package static func path(
    service: String, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(SQOAuthError) -> String {
    guard !service.isEmpty, !service.hasPrefix("."), !service.contains("/"),
      !service.utf8.contains(0)
    else {
      throw SQOAuthError(
        .invalidConfiguration,
        "a service name must not be empty, begin with a dot, or contain a slash or a NUL")
    }
    // The specification ignores a relative path.
    if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
      return "\(state)/\(service)"
    }
    if let home = environment["HOME"], home.hasPrefix("/") {
      return "\(home)/.local/state/\(service)"
    }
    // A service manager's user may have no home. The variable may name several folders.
    if let state = environment["STATE_DIRECTORY"]?.split(separator: ":").first,
      state.hasPrefix("/")
    {
      return "\(state)/\(service)"
    }
    throw SQOAuthError(
      .storeFailed,
      "there is no folder to keep tokens in; set HOME or XDG_STATE_HOME, or StateDirectory= in a "
        + "unit of systemd")
  }
}
