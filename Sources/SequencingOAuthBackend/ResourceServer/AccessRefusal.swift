import SQBasics
import SQFoundation
public import SequencingOAuth

/// A resource server's answer to a request whose token it does not accept: a status and fields.
///
/// The answer needs no content.
///
/// - SeeAlso: RFC 6750, section 3; RFC 9449, section 7.1; RFC 9470, section 3; RFC 9728, section
///   5.1
public struct AccessRefusal: Sendable, Hashable {
  /// The status of the answer: 400, 401, 403, or 503 if the token could not be checked.
  public let status: Int
  /// The value of the answer's field `WWW-Authenticate`; `nil` for status 503.
  public let challenge: String?
  /// The wait that the authorization server asks for, with status 503; `nil` if it asks for none.
  ///
  /// - SeeAlso: RFC 9110, section 10.2.3
  public let retryAfter: Duration?

  /// The fields of the answer: `WWW-Authenticate` for a challenge, and `Retry-After` in whole
  /// seconds.
  public var fields: HeaderFields {
    var fields: HeaderFields = [:]
    fields["WWW-Authenticate"] = challenge
    fields["Retry-After"] = retryAfter.map {
      "\(Int(min(max($0.seconds, 0), 86_400).rounded(.up)))"
    }
    return fields
  }

  /// Creates the answer for the error of a check, or for a request without a token.
  ///
  /// Without an error, or with `SQOAuthError.Code.accessTokenMissing`, the challenge names no
  /// error.
  ///
  /// With `resourceMetadata`, the address of the resource's metadata, clients find its
  /// authorization server by themselves; see `ProtectedResourceMetadata.address(of:)`. If
  /// ``AccessTokenClaims/require(scopes:)-(String...)`` or
  /// ``AccessTokenClaims/requireLogin(acrValues:maxAge:at:)`` threw the error, the challenge names
  /// the required scopes or login. For a request without a token, `scopes` are those that a first
  /// sign-in should ask for. If your service accepts only tokens that are bound to a key, set
  /// `requiresProof`. A challenge with no other parameter has a `realm`.
  public init(
    _ error: SQOAuthError? = nil, resourceMetadata: String? = nil, scopes: [String] = [],
    requiresProof: Bool = false
  ) {
    var parameters: [(String, String)] = []
    func add(_ name: String, _ value: String?) {
      if let value, !value.isEmpty { parameters.append((name, value)) }
    }
    var scheme = requiresProof ? "DPoP" : "Bearer"
    switch error?.code {
    case nil, .accessTokenMissing?:
      status = 401
      add("scope", scopes.joined(separator: " "))
    case .authorizationMalformed?:
      status = 400
      add("error", "invalid_request")
    case .insufficientScope?:
      status = 403
      add("error", "insufficient_scope")
      add("scope", error?.challenge?.scope ?? scopes.joined(separator: " "))
    case .insufficientUserAuthentication?:
      status = 401
      add("error", "insufficient_user_authentication")
      add("acr_values", error?.challenge?.acrValues.joined(separator: " "))
      add("max_age", error?.challenge?.maxAge.map { "\($0.components.seconds)" })
    case .invalidDPoPProof?:
      status = 401
      scheme = "DPoP"
      add("error", "invalid_dpop_proof")
    case .accessTokenInvalid?, .unexpectedTokenType?:
      status = 401
      add("error", "invalid_token")
    default:
      // The token could not be checked, so it may be valid.
      status = 503
      challenge = nil
      retryAfter = error?.retryAfter
      return
    }
    retryAfter = nil
    add("resource_metadata", resourceMetadata)
    // RFC 6750, section 3: at least one parameter follows the scheme.
    if parameters.isEmpty { add("realm", "api") }
    let text = parameters.map { "\($0)=\"\(Self.quotable($1))\"" }.joined(separator: ", ")
    challenge = "\(scheme) \(text)"
  }

  /// Returns a text without the characters that would end or change a quoted string.
  private static func quotable(_ text: String) -> String {
    let bytes = text.utf8.filter {
      (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
