import FoundationEssentials
import OAuthSandbox
import SQLoopback
import Testing

/// A client of the sandbox that writes its requests by hand.
struct SandboxPeer {
  let sandbox: SandboxServer

  /// The verifier of the example in RFC 7636, appendix B.
  static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
  static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
  static let redirectURI = "com.example.sandbox:/callback"

  /// Returns the URL of a correct authorization request with changes.
  ///
  /// A parameter with the value `nil` is left out.
  func authorizationURL(_ changes: [String: String?] = [:]) throws -> URL {
    var parameters: [String: String] = [
      "response_type": "code", "client_id": "sandbox-app", "redirect_uri": Self.redirectURI,
      "state": "a state+&=%", "scope": "profile demo", "code_challenge": Self.challenge,
      "code_challenge_method": "S256",
    ]
    for (name, value) in changes { parameters[name] = value }
    let query = Self.form(parameters.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    return try #require(URL(string: "\(sandbox.authorizationEndpoint.absoluteString)?\(query)"))
  }

  func get(
    _ path: String, headers: [(name: String, value: String)] = []
  ) async throws -> LoopbackAnswer {
    let url = try #require(LoopbackURL(sandbox.issuer.absoluteString + path))
    return try await LoopbackClient.send("GET", url, headers: headers)
  }

  func get(_ url: URL) async throws -> LoopbackAnswer {
    try await LoopbackClient.send("GET", try #require(LoopbackURL(url.absoluteString)))
  }

  func api(_ path: String, token: String) async throws -> LoopbackAnswer {
    try await get(path, headers: [("Authorization", "Bearer " + token)])
  }

  func post(
    _ path: String, _ form: [(String, String)], headers: [(name: String, value: String)] = []
  ) async throws -> LoopbackAnswer {
    try await post(path, body: Self.form(form), headers: headers)
  }

  func post(
    _ path: String, body: String, type: String = "application/x-www-form-urlencoded",
    headers: [(name: String, value: String)] = []
  ) async throws -> LoopbackAnswer {
    let url = try #require(LoopbackURL(sandbox.issuer.absoluteString + path))
    return try await LoopbackClient.send(
      "POST", url, headers: [("Content-Type", type)] + headers, body: Data(body.utf8))
  }

  /// Signs in the visitor's user, and returns the parameters of the redirect.
  func redirect(
    _ changes: [String: String?] = [:], visitor: SandboxVisitor = SandboxVisitor()
  ) async throws -> [(name: String, value: String)] {
    let visit = try await visitor.visit(try authorizationURL(changes))
    return Self.parameters(visit.redirect)
  }

  func code(_ changes: [String: String?] = [:]) async throws -> String {
    try #require(try await redirect(changes).first { $0.name == "code" }?.value)
  }

  /// The form of a correct pushed authorization request.
  static let signInForm = [
    ("response_type", "code"), ("client_id", "sandbox-app"), ("redirect_uri", redirectURI),
    ("code_challenge", challenge), ("code_challenge_method", "S256"),
  ]

  /// Sends the form that redeems a code, with changes and with `more` at its end.
  func redeem(
    _ code: String, _ changes: [String: String?] = [:], adding more: [(String, String)] = [],
    headers: [(name: String, value: String)] = []
  ) async throws -> LoopbackAnswer {
    var parameters = [
      "grant_type": "authorization_code", "code": code, "redirect_uri": Self.redirectURI,
      "client_id": "sandbox-app", "code_verifier": Self.verifier,
    ]
    for (name, value) in changes { parameters[name] = value }
    return try await post(
      "/token", parameters.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } + more,
      headers: headers)
  }

  func refresh(
    _ token: String, client: String = "sandbox-app", adding more: [(String, String)] = []
  ) async throws -> LoopbackAnswer {
    try await post(
      "/token",
      [("grant_type", "refresh_token"), ("refresh_token", token), ("client_id", client)] + more)
  }

  static func form(_ pairs: [(String, String)]) -> String {
    pairs.map { escape($0.0) + "=" + escape($0.1) }.joined(separator: "&")
  }

  /// Escapes every byte, which is always correct.
  static func escape(_ text: String) -> String {
    text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  static func parameters(_ redirect: String) -> [(name: String, value: String)] {
    let items = URLComponents(string: redirect)?.queryItems ?? []
    return items.map { ($0.name, $0.value ?? "") }
  }
}

/// The members of a token response that the tests read.
struct TokenJSON: Decodable {
  let accessToken: String
  let tokenType: String
  let expiresIn: Int?
  let refreshToken: String?
  let scope: String

  enum CodingKeys: String, CodingKey {
    case accessToken = "access_token"
    case tokenType = "token_type"
    case expiresIn = "expires_in"
    case refreshToken = "refresh_token"
    case scope
  }
}

extension LoopbackAnswer {
  var text: String { String(decoding: body, as: UTF8.self) }

  func tokens() throws -> TokenJSON {
    try #require(status == 200, "\(text)")
    return try JSONDecoder().decode(TokenJSON.self, from: body)
  }

  /// The `error` of a JSON body.
  var error: String? {
    struct Body: Decodable { let error: String }
    return try? JSONDecoder().decode(Body.self, from: body).error
  }
}

extension [(name: String, value: String)] {
  func value(_ name: String) -> String? { first { $0.name == name }?.value }
}
