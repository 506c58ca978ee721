import SQFoundation

/// Functions that authenticate a request's client.
///
/// A request must not use more than one method (RFC 6749, section 2.3).
enum ClientAuthenticator {
  /// Authenticates the client that posts a form, then calls `work` with the client.
  static func answer(
    _ request: SandboxRequest, _ sandbox: inout SandboxState,
    work: (SandboxClient, inout SandboxState) throws(OAuthFault) -> Answer
  ) -> Answer {
    guard request.method == "POST" else { return .methodNotAllowed("POST") }
    do throws(OAuthFault) {
      try TokenEndpoint.checkForm(request)
      return try work(try client(of: request, &sandbox), &sandbox)
    } catch {
      return error.answer
    }
  }

  static func client(
    of request: SandboxRequest, _ sandbox: inout SandboxState
  ) throws(OAuthFault) -> SandboxClient {
    if let assertion = request.form("client_assertion") {
      return try client(by: assertion, request, &sandbox)
    }
    let (id, secret, method) = try credentials(
      request, decodesBasic: sandbox.options.decodesBasicCredentials)
    guard let client = sandbox.client(id) else {
      throw .invalidClient(sandbox.documents.fault(of: id) ?? "There is no such client.")
    }
    guard sandbox.options.authenticationMethods.contains(method) else {
      let others = SandboxClient.Authentication.allCases
        .filter(sandbox.options.authenticationMethods.contains).map(\.rawValue)
      throw .invalidClient(
        "This server does not support the method \(method.rawValue). It supports: "
          + others.joined(separator: ", ") + ".")
    }
    guard client.authentication.contains(method) else {
      let methods = client.authentication.map(\.rawValue).sorted().joined(separator: " or ")
      throw .invalidClient(
        "The client used the method \(method.rawValue); it is registered for \(methods).")
    }
    guard secret == client.secret else { throw .invalidClient("The client secret is wrong.") }
    return client
  }

  /// Identifies a client by its signed assertion.
  ///
  /// - SeeAlso: RFC 7523, section 3
  private static func client(
    by text: String, _ request: SandboxRequest, _ sandbox: inout SandboxState
  ) throws(OAuthFault) -> SandboxClient {
    guard request.form("client_secret") == nil, request.header("authorization") == nil else {
      throw .invalidRequest("The client authenticated in two ways.")
    }
    guard
      request.form("client_assertion_type")
        == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    else { throw .invalidRequest("client_assertion_type is missing or unknown.") }
    do throws(AssertionFault) {
      let assertion = try ReceivedAssertion(text)
      let id = try assertion.text("iss")
      if let trusted = sandbox.trustedIssuer(id) {
        return try client(of: assertion, by: trusted, request, &sandbox)
      }
      guard try assertion.text("sub") == id, request.form("client_id") ?? id == id else {
        throw AssertionFault("It names several clients.")
      }
      guard let client = sandbox.client(id) else {
        throw AssertionFault("There is no such client.")
      }
      let method =
        assertion.usesSecret
        ? SandboxClient.Authentication.clientSecretJWT : .privateKeyJWT
      guard sandbox.options.authenticationMethods.contains(method) else {
        throw AssertionFault("This server does not support the method \(method.rawValue).")
      }
      guard client.authentication.contains(method) else {
        throw AssertionFault("The client is not registered for \(method.rawValue).")
      }
      if assertion.usesSecret {
        try assertion.check(secret: client.secret ?? "", &sandbox)
      } else {
        try assertion.check(keys: client.keys, &sandbox)
      }
      return client
    } catch {
      throw .invalidClient("client_assertion: \(error.reason)")
    }
  }

  /// Identifies a client by an assertion that the client's platform signed.
  private static func client(
    of assertion: ReceivedAssertion, by issuer: SandboxTrustedIssuer, _ request: SandboxRequest,
    _ sandbox: inout SandboxState
  ) throws(AssertionFault) -> SandboxClient {
    try assertion.check(keys: issuer.keys, isOfOther: true, &sandbox)
    let client = try sandbox.client(
      ofWorkload: try assertion.text("sub"), issuer, for: request.form("client_id"))
    guard sandbox.options.authenticationMethods.contains(.privateKeyJWT),
      client.authentication.contains(.privateKeyJWT)
    else { throw AssertionFault("The server or the client does not support private_key_jwt.") }
    return client
  }

  private static func credentials(
    _ request: SandboxRequest, decodesBasic: Bool
  ) throws(OAuthFault) -> (id: String, secret: String?, SandboxClient.Authentication) {
    let fields = request.headers.filter { $0.name == "authorization" }
    guard fields.count <= 1 else { throw .invalidRequest("Authorization came more than once.") }
    if let field = fields.first {
      guard request.form("client_secret") == nil else {
        throw .invalidRequest("The client authenticated in two ways.")
      }
      let (id, secret) = try basic(field.value, decodes: decodesBasic)
      guard request.form("client_id") ?? id == id else {
        throw .invalidRequest("client_id names another client.")
      }
      return (id, secret, .basic)
    }
    guard let id = request.form("client_id") else {
      throw .invalidClient("The client did not authenticate.")
    }
    let secret = request.form("client_secret")
    return (id, secret, secret == nil ? .none : .post)
  }

  /// Reads Basic credentials: the client's ID and secret, each form-encoded (RFC 6749, section
  /// 2.3.1).
  private static func basic(
    _ field: String, decodes: Bool
  ) throws(OAuthFault) -> (String, String) {
    let parts = field.split(separator: " ")
    guard parts.count == 2, parts[0].lowercased() == "basic",
      let data = Data(base64Encoded: String(parts[1])),
      let text = String(bytes: data, encoding: .utf8), let colon = text.firstIndex(of: ":"),
      let id = half(text[..<colon], decodes),
      let secret = half(text[text.index(after: colon)...], decodes)
    else { throw .invalidClient("Authorization has no readable Basic credentials.") }
    return (id, secret)
  }

  private static func half(_ half: Substring, _ isEncoded: Bool) -> String? {
    guard isEncoded else { return String(half) }
    // Decode the ID or the secret as a form value. A bare & or = means that it was not encoded.
    guard !half.contains("&"), !half.contains("=") else { return nil }
    return FormCoding.decode("v=" + half)?.first?.value
  }
}
