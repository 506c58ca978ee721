#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ErrorResponse {
  /// Reads the error object of RFC 6749, section 5.2, from a body; `nil` if the body is no such
  /// object.
  ///
  /// The request's secrets are removed from the server's texts.
  init?(body: Data, removing secrets: SentSecrets) {
    guard let members = JSONMessage.members(of: body) else { return nil }
    self.init(members: members, removing: secrets)
  }

  /// Reads the error from a JSON object's members; `nil` if they name no error.
  init?(members: [String: JSONValue], removing secrets: SentSecrets) {
    guard let error = members["error"]?.string, !error.isEmpty else { return nil }
    // The texts only help a developer; if one of them is no string, the code still counts.
    let description = members["error_description"]?.string
    let uri = members["error_uri"]?.string
    self.init(
      error: secrets.removed(from: error),
      errorDescription: description.map(secrets.removed(from:)),
      errorURI: uri.map(secrets.removed(from:)))
  }
}
