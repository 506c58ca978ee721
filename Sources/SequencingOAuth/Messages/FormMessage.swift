#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Token responses in form encoding, which RFC 6749 does not have and some old servers send.
enum FormMessage {
  /// The members, each there once; those of old Graph APIs have their standard names.
  static func members(of body: Data) throws(SQOAuthError) -> [String: JSONValue] {
    guard let pairs = FormCoding.decode(String(decoding: body, as: UTF8.self)) else {
      throw SQOAuthError(.invalidResponse, "the token response is not form-encoded")
    }
    var members: [String: JSONValue] = [:]
    for pair in pairs {
      let name = pair.name == "expires" ? "expires_in" : pair.name
      guard members.updateValue(.string(pair.value), forKey: name) == nil else {
        throw SQOAuthError(.invalidResponse, "the token response holds a field twice")
      }
    }
    return members
  }
}
