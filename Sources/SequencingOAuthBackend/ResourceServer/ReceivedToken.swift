import SQBasics
import SequencingOAuth

/// The access token in the `Authorization` field of a request that a resource server received.
///
/// - SeeAlso: RFC 6750, sections 2.1 and 3.1; RFC 9449, section 7.1
struct ReceivedToken: Redacted {
  /// An authentication scheme in the `Authorization` field.
  enum Scheme: String, CaseIterable { case bearer, dpop }

  let scheme: Scheme
  let text: String

  /// Reads the token from the values of all `Authorization` fields.
  ///
  /// - Throws: `SQOAuthError.Code.accessTokenMissing` if no field has one of the schemes;
  ///   `SQOAuthError.Code.authorizationMalformed` for several fields, or for a field that is not a
  ///   scheme followed by one token.
  init(_ fields: [String], of schemes: [Scheme]) throws(SQOAuthError) {
    guard fields.count < 2 else {
      throw SQOAuthError(
        .authorizationMalformed,
        "the request has \(fields.count) Authorization fields; it must have only one")
    }
    let field = fields.first ?? ""
    let space = UInt8(ascii: " ")
    let end = field.utf8.firstIndex(of: space) ?? field.endIndex
    let name = field[..<end].asciiLowercased()
    // `init(rawValue:)` would compare Unicode forms, which takes long for a hostile name.
    guard let scheme = Scheme.allCases.first(where: { $0.rawValue == name }),
      schemes.contains(scheme)
    else {
      throw SQOAuthError(.accessTokenMissing, Self.reason(name, schemes))
    }
    let text = String(Substring(field.utf8[end...].drop { $0 == space }))
    // A framework may join two fields with a comma and a space. Such text is rejected, because a
    // token in this field contains no space (RFC 6750, section 2.1).
    guard text.isSendableToken else {
      throw SQOAuthError(
        .authorizationMalformed,
        "the request's Authorization field must be a scheme, a space and exactly one token")
    }
    self.scheme = scheme
    self.text = text
  }

  /// Returns the error message for a field with a different scheme, or for a missing field.
  private static func reason(_ name: String, _ schemes: [Scheme]) -> String {
    guard name == Scheme.dpop.rawValue else {
      let names = schemes.map { $0 == .bearer ? "Bearer" : "DPoP" }.joined(separator: " or ")
      return "the request has no access token of the scheme \(names)"
    }
    return "the request's token is of the scheme DPoP: check the whole request, as a "
      + "ProtectedRequest"
  }

  /// The scheme, without the token.
  var description: String { "token of the scheme \(scheme.rawValue)" }
}

extension ProtectedRequest {
  /// Returns the only token of the request, with its scheme.
  func token() throws(SQOAuthError) -> ReceivedToken {
    try ReceivedToken(authorization, of: [.bearer, .dpop])
  }
}
