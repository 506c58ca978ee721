import SQBasics
import SQFoundation

/// A parser of form-encoded token responses.
///
/// RFC 6749 does not allow such responses, but some old servers send them.
enum FormMessage {
  /// The fields that the SDK uses, and the field that marks an error.
  private static let known: Set = [
    "access_token", "token_type", "expires_in", "refresh_token", "scope", "id_token",
    "issued_token_type", "error",
  ]

  /// Parses the fields, and renames `expires` of old Graph APIs to `expires_in`.
  ///
  /// A field that the SDK uses must not occur twice and must be encoded correctly. If another field
  /// occurs more than once, the first one is used. A wrong encoding of such a field is repaired.
  static func members(of body: Data) throws(SQOAuthError) -> [String: JSONValue] {
    var members: [String: JSONValue] = [:]
    for pair in FormCoding.mend(String(decoding: body, as: UTF8.self)) {
      let name = pair.name == "expires" ? "expires_in" : pair.name
      guard known.contains(name) else {
        if members[name] == nil { members[name] = .string(pair.value) }
        continue
      }
      guard pair.isExact else {
        throw SQOAuthError(
          .invalidResponse, "the \"\(name)\" of the token response is not form-encoded")
      }
      guard members.updateValue(.string(pair.value), forKey: name) == nil else {
        throw SQOAuthError(.invalidResponse, "the token response has the field \"\(name)\" twice")
      }
    }
    return members
  }
}
