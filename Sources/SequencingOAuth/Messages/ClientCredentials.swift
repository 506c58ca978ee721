import SQBasics
package import SQFoundation

/// The client's identity, and its proof in a request that the SDK itself sends to a server.
///
/// - SeeAlso: RFC 6749, section 2.3.1; RFC 7523, section 2.2
package struct ClientCredentials: Sendable {
  let id: String
  let secret: String?
  let authentication: ClientAuthentication
  /// The assertion for this request; `nil` before it is made, and for methods without an assertion.
  var assertion: String?
  /// The name of the client's key that signs the assertion; `nil` if the key has no name, or if no
  /// key of the client signs.
  var keyID: String?
  /// Whether the client's ``SecurityProfile``, such as FAPI, determines the audience of assertions.
  var isAudienceFixed = false
  /// The authentication methods that the server lists; `nil` if it has no list.
  var listedMethods: [String]?
  /// Whether to leave out the client's identifier if the client does not authenticate.
  var isAnonymous = false

  /// The type of an assertion that is a JSON Web Token, for `client_assertion_type`.
  static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

  /// Returns a POST request with a form that asks for a JSON response.
  ///
  /// The client's identity is in a header field or in the form.
  package func form(
    _ parameters: [FormCoding.Pair], to endpoint: URL, timeout: Duration
  ) -> WebRequest {
    var headers: HeaderFields = [
      "Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded",
      "Cache-Control": "no-store",
    ]
    var pairs = parameters
    switch (authentication, authentication.usesAssertion ? assertion : secret) {
    case (.privateKeyJWT, let assertion?), (.clientSecretJWT, let assertion?):
      pairs.append(.init("client_id", id))
      pairs.append(.init("client_assertion_type", Self.assertionType))
      pairs.append(.init("client_assertion", assertion))
    case (.signedSecret, let assertion?):
      pairs.append(.init("client_id", id))
      pairs.append(.init("client_secret", assertion))
    case (.basic, let secret?):
      headers["Authorization"] = Self.basic(id: id, secret: secret)
    case (.basicUnescaped, let secret?):
      headers["Authorization"] = Self.basicUnescaped(id: id, secret: secret)
    case (.post, let secret?):
      pairs.append(.init("client_id", id))
      pairs.append(.init("client_secret", secret))
    default:
      if !isAnonymous { pairs.append(.init("client_id", id)) }
    }
    var request = WebRequest(
      method: "POST", url: endpoint, headers: headers,
      body: .bytes(Data(FormCoding.encodeBody(pairs).utf8)))
    request.timeout = timeout
    return request
  }

  /// Whether ``form(_:to:timeout:)`` adds the client's identifier to the form.
  var namesItselfInForm: Bool {
    let isBasic = authentication == .basic || authentication == .basicUnescaped
    return !(isBasic && secret != nil) && !isAnonymous
  }

  /// The texts that must not appear in a description, an error or a log.
  package var secrets: [String] {
    guard let secret else { return [assertion].compactMap(\.self) }
    let fields = [
      Self.basic(id: id, secret: secret), Self.basicUnescaped(id: id, secret: secret),
    ]
    return [secret] + fields.map { String($0.dropFirst("Basic ".count)) }
      + [assertion].compactMap(\.self)
  }

  /// Returns the value of an `Authorization: Basic` field according to RFC 6749.
  ///
  /// The identifier and the secret are form-encoded before they are joined, so both may contain a
  /// colon.
  static func basic(id: String, secret: String) -> String {
    let credentials = FormCoding.encodeCredential(id) + ":" + FormCoding.encodeCredential(secret)
    return "Basic " + Data(credentials.utf8).base64EncodedString()
  }

  /// Returns the value of an `Authorization: Basic` field according to RFC 7617.
  ///
  /// It is for servers that do not decode the identifier and the secret.
  private static func basicUnescaped(id: String, secret: String) -> String {
    "Basic " + Data("\(id):\(secret)".utf8).base64EncodedString()
  }
}

extension ClientCredentials {
  /// Returns whether Basic must encode a character of this identifier or this secret.
  static func areChangedByBasic(id: String, secret: String) -> Bool {
    [id, secret].contains { FormCoding.encodeCredential($0) != $0 }
  }

  /// Adds advice to the message of an error that the authentication method may have caused.
  ///
  /// `response` came at `now`; its date shows whether this machine's clock is wrong.
  package func explaining(
    _ error: SQOAuthError, after response: WebResponse, at now: Date
  ) -> SQOAuthError {
    guard error.mayBeRefusalOfClient else { return error }
    let clock = ProofAdvice.clockText(response.headers, at: now)
    let usual = authentication.usesAssertion ? hintForAssertion(error, clock) : hint
    guard let hint = hintForUnlisted ?? usual else { return error }
    var error = error
    error.message += " (\(hint))"
    return error
  }

  /// Returns what may be wrong with a signed token that the server refused.
  ///
  /// Returns `nil` for a refusal of the request itself (`invalid_request`), which is not about the
  /// token.
  private func hintForAssertion(_ error: SQOAuthError, _ clock: String?) -> String? {
    guard error.code != .invalidRequest else { return nil }
    if let clock { return clock }
    let key = keyID.map {
      "the client signs with the key \"\($0.printable)\": check that the server has the public half "
        + "of this key for this client"
    }
    let audience =
      isAudienceFixed
      ? nil
      : "some servers expect an audience other than their issuer in a signed token; set the "
        + "provider's assertionAudience, if the server's documentation names one"
    let hints = [key, audience].compactMap(\.self)
    return hints.isEmpty ? nil : hints.joined(separator: "; ")
  }

  /// The hint if the server lists its methods, but not the method that the client used.
  private var hintForUnlisted: String? {
    let method = authentication == .basicUnescaped ? .basic : authentication
    guard let listedMethods, !listedMethods.isEmpty, !listedMethods.contains(method.rawValue) else {
      return nil
    }
    let takesKey = listedMethods.contains(ClientAuthentication.privateKeyJWT.rawValue)
    return "the client used the method \(method.rawValue.printable), but the server lists: "
      + listedMethods.joined(separator: ", ").printable
      + (takesKey && !authentication.usesAssertion
        ? "; for private_key_jwt, give the configuration a clientKey" : "")
  }

  private var hint: String? {
    switch (authentication, secret) {
    case (.basic, ""?), (.basicUnescaped, ""?):
      "the client secret is empty; if the server gave the client a secret, check where the app "
        + "reads it"
    case (.basic, let secret?) where Self.areChangedByBasic(id: id, secret: secret):
      "by RFC 6749, section 2.3.1, Basic encodes some characters of this client's identifier or "
        + "secret, and many servers do not decode them; set the configuration's "
        + "clientAuthentication to .post (client_secret_post), or to .basicUnescaped: both "
        + "send the characters as they are"
    case (.basic, _?), (.basicUnescaped, _?):
      "the secret was sent by Basic; if the server expects it in the body, set the configuration's "
        + "clientAuthentication to client_secret_post"
    case (.post, _?):
      "the secret was sent in the body; if the server expects it by Basic, set the configuration's "
        + "clientAuthentication to client_secret_basic"
    default: nil
    }
  }
}

extension SQOAuthError {
  /// The codes by which a server refuses something other than the client's authentication.
  private static let otherRefusals: Set<Code> = [
    .invalidGrant, .invalidScope, .invalidTarget, .unsupportedGrantType, .unsupportedResponseType,
    .unsupportedTokenType, .accessDenied, .expiredToken, .insufficientScope, .useDPoPNonce,
    .invalidDPoPProof,
    .interactionRequired, .loginRequired, .consentRequired, .serverError, .temporarilyUnavailable,
    Code(rawValue: "authorization_pending"), Code(rawValue: "slow_down"),
    Code(rawValue: "authorization_declined"),
  ]

  /// Whether the server may have refused the client itself.
  ///
  /// A server that does not find the client's secret in the expected place may use any code, such
  /// as `invalid_request`, or no code. So each code counts, unless it names another reason or the
  /// status shows a server in trouble. Without a code, only a refusal by the token endpoint and the
  /// statuses 401 and 403 count. A provider that refuses with status 200 uses its own codes; such a
  /// code is about the client only if it contains the word `client`.
  fileprivate var mayBeRefusalOfClient: Bool {
    guard !isOfServerInTrouble else { return false }
    if let response {
      return !Self.otherRefusals.contains(code)
        && (status != 200 || response.error.rawValue.contains("client"))
    }
    return code == .requestRefused || status == 401 || status == 403
  }
}

extension ClientCredentials: Redacted {
  package var description: String { "client \(id)" }
}
