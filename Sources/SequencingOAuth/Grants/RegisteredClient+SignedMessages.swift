import SQBasics
import SQCrypto
import SQFoundation

// Signed authorization requests and responses.
extension RegisteredClient {
  /// Whether the client signs the requests of its sign-ins.
  ///
  /// - Throws: ``SQOAuthError/Code/signInUnsupported`` if the server demands a signed request and
  ///   the client cannot sign it as the server accepts it.
  func signsAuthorizationRequests() throws(SQOAuthError) -> Bool {
    guard
      metadata.requiresSignedRequestObjects || configuration.signsAuthorizationRequests
        || configuration.profile.signsMessages
    else { return false }
    guard let key = configuration.clientKey else {
      throw SQOAuthError(
        .signInUnsupported,
        "the request of the sign-in must be signed (require_signed_request_object, or the "
          + "configuration's signsAuthorizationRequests), and the client has no clientKey")
    }
    let listed = metadata.requestObjectAlgorithms.map(JWSAlgorithm.all(in:))
    guard listed?.contains(key.algorithm) ?? true else {
      throw SQOAuthError(
        .signInUnsupported,
        "the server accepts no request that is signed with the clientKey's algorithm "
          + "\(key.algorithm.rawValue) (request_object_signing_alg_values_supported)")
    }
    return true
  }

  /// Returns the parameters of a sign-in's request as a signed text, a request object.
  ///
  /// - SeeAlso: RFC 9101, section 4; FAPI 2.0 Message Signing, section 5.3.2
  func requestObject(of parameters: [FormCoding.Pair]) async throws(SQOAuthError) -> String {
    guard let key = configuration.clientKey else {
      throw .unusableClientKey("the client has none")
    }
    let now = Int64(serverTime(at: metadata.tokenEndpoint).timeIntervalSince1970)
    let tolerance = configuration.clockTolerance.components.seconds
    var claims: [String: JSONValue] = [:]
    for parameter in parameters { claims[parameter.name] = Self.claim(parameter) }
    if configuration.resources.count > 1 {
      // A parameter that may be repeated is a list (RFC 8707, section 2).
      claims["resource"] = .array(configuration.resources.map(JSONValue.string))
    }
    // They come last, so that no parameter of the app replaces them.
    claims["iss"] = .string(configuration.clientID)
    claims["aud"] = .string(metadata.issuer ?? metadata.authorizationEndpoint?.absoluteString ?? "")
    claims["iat"] = .integer(now)
    claims["nbf"] = .integer(now - min(tolerance, 60))
    claims["exp"] = .integer(now + 300 + tolerance)
    claims["jti"] = .string(RandomString.make())
    return try await key.sign(
      claims, type: "oauth-authz-req+jwt", listed: metadata.requestObjectAlgorithms)
  }

  /// Returns a parameter as a claim: a text, or the JSON that the text holds.
  ///
  /// - SeeAlso: OpenID Connect Core 1.0, section 6.1; RFC 9396, section 2
  private static func claim(_ parameter: FormCoding.Pair) -> JSONValue {
    let isJSON = ["max_age", "claims", "authorization_details"].contains(parameter.name)
    let value =
      isJSON ? try? JSONDecoder().decode(JSONValue.self, from: Data(parameter.value.utf8)) : nil
    return value ?? .string(parameter.value)
  }

  /// The algorithms of the signed responses that the client asks for; `nil` if it asks for none.
  ///
  /// - Throws: ``SQOAuthError/Code/signInUnsupported`` if the server does not offer them.
  func responseAlgorithms() throws(SQOAuthError) -> Set<JWSAlgorithm>? {
    let chosen = configuration.authorizationResponseAlgorithm
    guard chosen != nil || configuration.profile.signsMessages else { return nil }
    guard metadata.responseModes?.contains("jwt") ?? true else {
      throw SQOAuthError(
        .signInUnsupported,
        "the server signs no responses of sign-ins (\"jwt\" is not in response_modes_supported)")
    }
    if let chosen { return [chosen] }
    return configuration.profile.algorithms?
      .intersection(JWSAlgorithm.all(in: metadata.authorizationResponseAlgorithms))
  }

  /// Returns the verifier of signed responses.
  func responseSignatures(
    _ algorithms: Set<JWSAlgorithm>
  ) throws(SQOAuthError) -> IssuerSignatures {
    try IssuerSignatures(ofTokensBy: algorithms, configuration, metadata, environment)
  }
}
