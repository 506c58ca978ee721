#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads token responses in form encoding, which some old servers send although RFC 6749 has none.
enum FormMessage {
  /// Reads the fields, of which none may come twice; `expires` of old Graph APIs becomes
  /// `expires_in`.
  static func members(of body: Data) throws(SQOAuthError) -> [String: JSONValue] {
    guard let pairs = FormCoding.decode(String(decoding: body, as: UTF8.self)) else {
      throw SQOAuthError(.invalidResponse, "the token response is not form-encoded")
    }
    var members: [String: JSONValue] = [:]
    for pair in pairs {
      let name = pair.name == "expires" ? "expires_in" : pair.name
      guard members.updateValue(.string(pair.value), forKey: name) == nil else {
        throw SQOAuthError(.invalidResponse, "the token response has a field twice")
      }
    }
    return members
  }
}
