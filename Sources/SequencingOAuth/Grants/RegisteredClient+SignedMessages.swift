import SQBasics
import SQCrypto
import SQFoundation

// Signed authorization requests and responses.
extension RegisteredClient {
  /// Returns whether the client signs its authorization requests.
  ///
  /// - Throws: ``SQOAuthError/Code/signInUnsupported`` if the request must be signed, but the
  ///   client has no key or the server does not list the key's algorithm.
  func signsAuthorizationRequests() throws(SQOAuthError) -> Bool {
    guard
      metadata.requiresSignedRequestObjects || configuration.signsAuthorizationRequests
        || configuration.profile.signsMessages
    else { return false }
    guard let key = configuration.clientKey else {
      throw SQOAuthError(
        .signInUnsupported,
        "the request of the sign-in must be signed (require_signed_request_object, or the "
          + "configuration's signsAuthorizationRequests or profile), but the client has no "
          + "clientKey")
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

  /// Returns a request object: a signed JSON Web Token with the parameters of an authorization
  /// request.
  ///
  /// Its times are those of the server at `endpoint`, which receives it.
  ///
  /// - SeeAlso: RFC 9101, section 4; FAPI 2.0 Message Signing, section 5.3.2
  func requestObject(
    of parameters: [FormCoding.Pair], for endpoint: URL
  ) async throws(SQOAuthError) -> String {
    guard let key = configuration.clientKey else {
      throw .unusableClientKey("the client has none")
    }
    let now = Int64(serverTime(at: endpoint).timeIntervalSince1970)
    let tolerance = configuration.clockTolerance.components.seconds
    var claims: [String: JSONValue] = [:]
    for parameter in parameters { claims[parameter.name] = Self.claim(parameter) }
    if configuration.resources.count > 1 {
      // A parameter that may be repeated is a list (RFC 8707, section 2).
      claims["resource"] = .array(configuration.resources.map(JSONValue.string))
    }
    // These claims are set last, so that no parameter of the app replaces them.
    claims["iss"] = .string(configuration.clientID)
    claims["aud"] = .string(metadata.issuer ?? metadata.authorizationEndpoint?.absoluteString ?? "")
    claims["iat"] = .integer(now)
    claims["nbf"] = .integer(now - min(tolerance, 60))
    claims["exp"] = .integer(now + 300 + tolerance)
    claims["jti"] = .string(RandomString.make())
    return try await key.sign(
      claims, type: "oauth-authz-req+jwt", listed: metadata.requestObjectAlgorithms)
  }

  /// Returns a parameter as a claim: a string, or the JSON value that the string contains.
  ///
  /// - SeeAlso: OpenID Connect Core 1.0, section 6.1; RFC 9396, section 2
  private static func claim(_ parameter: FormCoding.Pair) -> JSONValue {
    let isJSON = ["max_age", "claims", "authorization_details"].contains(parameter.name)
    let value =
      isJSON ? try? JSONDecoder().decode(JSONValue.self, from: Data(parameter.value.utf8)) : nil
    return value ?? .string(parameter.value)
  }

  /// Returns the algorithms that may sign the response; `nil` if the client asks for no signed
  /// response.
  ///
  /// - Throws: ``SQOAuthError/Code/signInUnsupported`` if the server does not offer signed
  ///   responses.
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
}
