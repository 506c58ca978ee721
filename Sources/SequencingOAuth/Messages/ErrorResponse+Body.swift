#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ErrorResponse {
  /// Reads the error object of RFC 6749, section 5.2; `nil` where the body is none.
  ///
  /// What was sent is taken out of what the server says of it.
  init?(body: Data, removing secrets: SentSecrets) {
    guard let members = JSONMessage.members(of: body) else { return nil }
    self.init(members: members, removing: secrets)
  }

  /// The same, of a body whose members are known.
  init?(members: [String: JSONValue], removing secrets: SentSecrets) {
    guard let error = members["error"]?.string, !error.isEmpty else { return nil }
    // The texts only help a developer; one of another type does not hide the code.
    let description = members["error_description"]?.string
    let uri = members["error_uri"]?.string
    self.init(
      error: secrets.removed(from: error),
      errorDescription: description.map(secrets.removed(from:)),
      errorURI: uri.map(secrets.removed(from:)))
  }
}
