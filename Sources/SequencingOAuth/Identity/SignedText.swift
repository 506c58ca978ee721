import SQBasics
import SQCrypto
package import SQFoundation

/// The kind of a text that an issuer signs for a client or a resource server.
package enum SignedText: Sendable {
  case idToken
  case userInfo
  case logoutToken
  /// An access token; `isTyped` is `false` for a server whose access tokens have no special type.
  case accessToken(isTyped: Bool)
  case introspection
  case authorizationResponse

  /// Reads a text of this kind and checks only its form; no request is sent.
  package func read(_ compactForm: String) throws(SQOAuthError) -> CompactJWS {
    let text = try explaining { () throws(JWSFailure) in try CompactJWS(compactForm) }
    guard allows(type: text.type) else { throw error(.type) }
    return text
  }

  /// Returns the error for a text that could not be verified.
  func error(_ failure: JWSFailure) -> SQOAuthError {
    SQOAuthError(code(failure), "the \(name) \(reason(failure))")
  }

  /// Runs a closure that reads or verifies a text, and throws its failure as the error for this
  /// kind of text.
  func explaining<Value>(
    _ work: () throws(JWSFailure) -> Value
  ) throws(SQOAuthError) -> Value {
    do throws(JWSFailure) {
      return try work()
    } catch {
      throw self.error(error)
    }
  }

  /// Returns the signed text in a body, without the line break that some servers add.
  package static func compactForm(in body: Data) -> String {
    let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
    let end = body.lastIndex { !blanks.contains($0) }.map { $0 + 1 } ?? body.startIndex
    return String(decoding: body[..<end], as: UTF8.self)
  }

  /// The name of the kind in messages.
  package var name: String {
    switch self {
    case .idToken: "ID token"
    case .userInfo: "UserInfo response"
    case .logoutToken: "logout token"
    case .accessToken: "access token"
    case .introspection: "introspection response"
    case .authorizationResponse: "authorization response"
    }
  }

  /// Whether the text is the issuer's response to a request of the SDK.
  ///
  /// If it is not, anyone could have sent it.
  var isFromIssuer: Bool {
    switch self {
    case .idToken, .userInfo, .introspection: true
    case .logoutToken, .accessToken, .authorizationResponse: false
    }
  }

  /// Returns whether the header's `typ` is allowed for this kind.
  ///
  /// - SeeAlso: RFC 8725, section 3.11; RFC 9068, section 4; RFC 9701, section 5
  func allows(type: String?) -> Bool {
    var type = type?.asciiLowercased()
    if let found = type, found.hasPrefix("application/") {
      type = String(found.dropFirst("application/".count))
    }
    return switch self {
    // Issuers give these texts many types, so only the known types of other texts are refused.
    case .idToken, .userInfo: type.map { !Self.otherTypes.contains($0) } ?? true
    case .logoutToken: [nil, "", "jwt", "logout+jwt", "secevent+jwt"].contains(type)
    case .accessToken(let isTyped): type == "at+jwt" || !isTyped && [nil, "jwt"].contains(type)
    case .introspection: type == "token-introspection+jwt"
    // JARM defines no type, so the header may have no type, the general one, or this specific one.
    case .authorizationResponse: [nil, "jwt", "oauth-authz-res+jwt"].contains(type)
    }
  }

  /// The types of texts that are neither ID tokens nor UserInfo responses.
  private static let otherTypes: Set = [
    "at+jwt", "client-authentication+jwt", "dpop+jwt", "logout+jwt", "oauth-authz-req+jwt",
    "oauth-authz-res+jwt", "oauth-id-jag+jwt", "secevent+jwt", "token-introspection+jwt",
  ]

  private func code(_ failure: JWSFailure) -> SQOAuthError.Code {
    switch self {
    case .userInfo: .userInfoInvalid
    case .logoutToken: .logoutTokenInvalid
    case .accessToken: .accessTokenInvalid
    case .introspection: .invalidResponse
    case .authorizationResponse: .invalidAuthorizationResponse
    case .idToken:
      switch failure {
      case .tooLong, .malformed, .type: .idTokenMalformed
      case .encrypted: .idTokenEncrypted
      case .critical: .idTokenCritical
      case .algorithm: .idTokenAlgorithm
      case .noKey: .idTokenKey
      case .weakKey: .idTokenWeakKey
      case .badSignature: .idTokenSignature
      }
    }
  }

  private func reason(_ failure: JWSFailure) -> String {
    switch failure {
    case .tooLong: "is longer than the SDK accepts"
    case .malformed(let reason): "is malformed: \(reason)"
    case .encrypted:
      "is encrypted, but the SDK cannot decrypt it; \(encryptionAdvice)"
    case .type: "has an unexpected type (\"typ\")"
    case .critical: "demands an extension (\"crit\") that the SDK does not know"
    case .algorithm(found: "none"): "is not signed (\"alg\" is \"none\")"
    case .algorithm(let found):
      "is signed with the algorithm \"\(found.printable.prefix(20))\", \(rule(found))"
    case .noKey: OpenSSL.explained("is signed by a key that is not among the issuer's keys")
    case .weakKey: "is signed by an RSA key of less than 2048 bits"
    case .badSignature: OpenSSL.explained("has a wrong signature")
    }
  }

  /// Advice on how to get the text without encryption; a client cannot choose the form of an access
  /// token.
  private var encryptionAdvice: String {
    if case .accessToken = self { return "let its issuer send access tokens without encryption" }
    return "register the client without encryption"
  }

  /// The end of the message about an unexpected algorithm: what is expected, and how to change it.
  private func rule(_ found: String) -> String {
    let setting =
      switch self {
      case .accessToken, .introspection: nil as String?
      case .idToken, .logoutToken: "idTokenAlgorithm"
      case .userInfo: "userInfoAlgorithm"
      case .authorizationResponse: "authorizationResponseAlgorithm"
      }
    guard let setting else { return "which the resource server does not accept" }
    guard JWSAlgorithm(named: found) != nil else {
      return "which the SDK does not know; register the client for an algorithm that the SDK knows"
    }
    return "but the client expects another one; if the client is registered for the token's "
      + "algorithm, set it as the configuration's \(setting)"
  }
}
