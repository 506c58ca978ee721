import SQBasics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads token responses in form encoding, which some old servers send although RFC 6749 has none.
enum FormMessage {
  /// What the SDK reads, and what an error consists of.
  private static let known: Set = [
    "access_token", "token_type", "expires_in", "refresh_token", "scope", "id_token",
    "issued_token_type", "error",
  ]

  /// Reads the fields; `expires` of old Graph APIs becomes `expires_in`.
  ///
  /// A field that the SDK reads must come once and be decoded as it was sent. Of any other field
  /// the first one counts, and what cannot be decoded is mended.
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
