#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The folder in which a program keeps what must survive it.
///
/// - SeeAlso: XDG Base Directory Specification
package enum StateFolder {
  /// The folder of a service, which need not exist yet.
  package static func path(
    service: String, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(SQOAuthError) -> String {
    guard !service.isEmpty, !service.hasPrefix("."), !service.contains("/"),
      !service.utf8.contains(0)
    else {
      throw SQOAuthError(
        .invalidConfiguration, "a service name is not empty, has no slash and no leading dot")
    }
    // The specification ignores a relative path.
    if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
      return "\(state)/\(service)"
    }
    guard let home = environment["HOME"], home.hasPrefix("/") else {
      throw SQOAuthError(
        .storeFailed, "there is no folder to keep tokens in; set HOME or XDG_STATE_HOME")
    }
    return "\(home)/.local/state/\(service)"
  }
}
