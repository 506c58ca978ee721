import SQBasics
import SQFoundation

/// The reason why a signed request is rejected, such as `invalid_request_object`.
///
/// - SeeAlso: RFC 9101, section 7
struct RequestObjectFault: Error, Redacted {
  var code = "invalid_request_object"
  let description: String
  /// The parameters of the request, which may be unverified.
  ///
  /// The error is sent to the redirect URI in these parameters, if the client has registered it.
  var parameters: [SandboxParameter] = []
}

/// A client's signed authorization request.
///
/// - SeeAlso: RFC 9101
struct RequestObject: Redacted {
  private let jwt: ReceivedJWT
  /// The claims as parameters of the request, without the claims about the JWT itself.
  let parameters: [SandboxParameter]

  /// The claims that are about the token and not about the sign-in (RFC 7519, section 4.1).
  private static let ofToken: Set = ["iss", "sub", "aud", "exp", "nbf", "iat", "jti"]
  /// The maximum lifetime of a signed request and the maximum age of its `nbf`, in seconds.
  ///
  /// - SeeAlso: FAPI 2.0 Message Signing, section 5.3.1
  private static let longestLifetime = 3600
  /// The allowed difference between clocks, in seconds.
  private static let tolerance = 10

  init?(_ text: String) {
    guard let jwt = ReceivedJWT(text), case .object(let claims) = jwt.claims else { return nil }
    self.jwt = jwt
    parameters = claims.filter { !Self.ofToken.contains($0.name) }.flatMap { claim in
      Self.values(of: claim).map { SandboxParameter(name: claim.name, value: Self.text($0)) }
    }
  }

  /// Returns the value of a claim or, if the claim `resource` is an array, each value in the array.
  ///
  /// - SeeAlso: RFC 8707, section 2.1
  private static func values(of claim: SandboxJSON.Member) -> [SandboxJSON] {
    if claim.name == "resource", case .array(let values) = claim.value { return values }
    return [claim.value]
  }

  /// Returns a claim as a parameter: a string as it is, and any other value as JSON.
  private static func text(_ json: SandboxJSON) -> String {
    if case .string(let text) = json { text } else { json.text }
  }

  // MARK: Checking

  /// Returns the parameters of a request: the claims of its signed object or, without one, `plain`.
  ///
  /// If there is a signed object, all other parameters are ignored (RFC 9101, section 5).
  static func parameters(
    of plain: [SandboxParameter], _ client: SandboxClient, _ sandbox: SandboxState
  ) throws(RequestObjectFault) -> [SandboxParameter] {
    guard !sandbox.options.requestObjectAlgorithms.isEmpty else { return plain }
    guard let text = plain.value("request") else {
      guard !sandbox.options.requiresSignedRequests, !client.requiresSignedRequests else {
        throw RequestObjectFault(
          code: "invalid_request", description: "The request is not signed.", parameters: plain)
      }
      return plain
    }
    guard let object = RequestObject(text) else {
      throw RequestObjectFault(description: "The request is not a signed JWT.", parameters: plain)
    }
    if let reason = object.problem(client, sandbox) {
      throw RequestObjectFault(description: reason, parameters: object.parameters)
    }
    return object.parameters
  }

  /// Returns what is wrong with the object, or `nil` if the client signed it for this sandbox and
  /// it is valid now.
  private func problem(_ client: SandboxClient, _ sandbox: SandboxState) -> String? {
    if let type = jwt.header["typ"], type != "oauth-authz-req+jwt" {
      return "typ is not oauth-authz-req+jwt."
    }
    guard let algorithm = jwt.algorithm,
      sandbox.options.requestObjectAlgorithms.contains(algorithm)
    else { return "The algorithm in alg is not supported." }
    guard client.keys.contains(where: jwt.isSigned(byRegistered:)) else {
      return "None of the client's keys matches the signature."
    }
    return partyProblem(client, sandbox) ?? timeProblem(sandbox)
  }

  private func partyProblem(_ client: SandboxClient, _ sandbox: SandboxState) -> String? {
    guard jwt.text("iss") == client.id else { return "iss is not the client." }
    guard jwt.text("client_id") == client.id else { return "client_id is not the client." }
    let issuer = SandboxJSON.string(sandbox.issuer)
    let isOwn =
      switch jwt.claims["aud"] {
      case .array(let names)?: names.contains(issuer)
      case let name: name == issuer
      }
    guard isOwn else { return "aud is not this server's issuer." }
    guard jwt.claims["request"] == nil, jwt.claims["request_uri"] == nil else {
      return "The object contains another request."
    }
    return nil
  }

  private func timeProblem(_ sandbox: SandboxState) -> String? {
    let now = sandbox.seconds
    guard case .integer(let end)? = jwt.claims["exp"] else {
      return "exp is missing or not an integer."
    }
    guard end > now - Self.tolerance else { return "The object has expired." }
    guard let claim = jwt.claims["nbf"] else {
      guard !sandbox.options.requestObjectsNeedStart else { return "nbf is missing." }
      return end <= now + Self.longestLifetime ? nil : "exp is too far in the future."
    }
    guard case .integer(let start) = claim else { return "nbf is not an integer." }
    guard start <= now + Self.tolerance else { return "The object is not valid yet." }
    guard start >= now - Self.longestLifetime else { return "nbf is too far in the past." }
    guard end <= start + Self.longestLifetime else { return "The object is valid for too long." }
    return nil
  }
}

extension SandboxRequest {
  /// The claims of the signed request in the parameter `request`, not verified.
  ///
  /// They are `nil` if this request has no such parameter, or if the parameter is not a JWT.
  ///
  /// - SeeAlso: RFC 9101, section 4
  public var requestObjectClaims: SandboxJSON? {
    (form("request") ?? query("request")).flatMap { ReceivedJWT($0)?.claims }
  }
}
