/// A set of rules that a client follows in addition to OAuth 2.
///
/// - SeeAlso: FAPI 2.0 Security Profile; FAPI 2.0 Message Signing
public enum SecurityProfile: Sendable, Hashable {
  /// The rules of OAuth 2 and its best current practice (RFC 9700).
  case standard

  /// The FAPI 2.0 Security Profile, for banks, health data and similar services.
  ///
  /// The client authenticates with a signed token or a certificate, pushes the parameters of its
  /// sign-ins, binds its tokens to a key or a certificate, and accepts only the algorithms PS256,
  /// ES256 and EdDSA. It needs a server with an issuer, whose metadata names what the profile
  /// demands.
  case fapi2

  /// The FAPI 2.0 Security Profile with Message Signing: the requests and the responses of sign-ins
  /// are signed too.
  case fapi2MessageSigning

  /// The rules of the Model Context Protocol (MCP) for its clients.
  ///
  /// The client refuses a server whose metadata does not list the code challenge method S256. It
  /// tries the addresses of an issuer's metadata in the protocol's order.
  ///
  /// - SeeAlso: Model Context Protocol 2026-07-28, Authorization
  case mcp

  /// Returns the stricter one of two profiles.
  package func orStricter(_ other: SecurityProfile) -> SecurityProfile {
    let byRules: [Self] = [.standard, .mcp, .fapi2, .fapi2MessageSigning]
    return byRules.last { $0 == self || $0 == other } ?? self
  }

  /// Whether the profile is one of FAPI 2.0.
  var isFAPI: Bool { self == .fapi2 || self == .fapi2MessageSigning }
  /// Whether the requests and the responses of sign-ins are signed.
  var signsMessages: Bool { self == .fapi2MessageSigning }

  /// Whether the client looks for an issuer's metadata in the order of the Model Context Protocol.
  package var insertsWellKnownFirst: Bool { self == .mcp }

  /// The algorithms that the profile allows; `nil` for any.
  ///
  /// - SeeAlso: FAPI 2.0 Security Profile, section 5.4.1
  var algorithms: Set<JWSAlgorithm>? { isFAPI ? [.ps256, .es256, .edDSA] : nil }

  /// The member of a client's metadata for the algorithm of its ID tokens.
  static let idTokenMember = "id_token_signed_response_alg"

  /// The members of a client's metadata for the algorithms by which the server must sign.
  ///
  /// - SeeAlso: OpenID Connect Dynamic Client Registration 1.0, section 2; JARM, section 3
  var signatureMembers: [String] {
    guard isFAPI else { return [] }
    return [Self.idTokenMember] + (signsMessages ? ["authorization_signed_response_alg"] : [])
  }
}

extension ClientConfiguration {
  /// The binding of new tokens: the app's choice, or else the profile's default.
  package var newBinding: TokenBinding? { tokenBinding ?? (profile.isFAPI ? .dpop() : nil) }
}
