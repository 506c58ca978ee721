import OAuthSandbox
import OAuthSandboxGRPC
import SQBasics
import SQFoundation

/// A description of a sandbox: its addresses, API, scopes, clients and users.
struct SandboxReport: Encodable {
  private struct Client: Encodable, Redacted {
    let clientId: String
    let clientSecret: String?
  }

  private struct User: Encodable, Redacted {
    let userName: String
    let password: String
  }

  /// The addresses that require a token.
  private struct API: Encodable {
    let me: String
    let list: String
    let drive: String
    let upload: String
    let grpc: String
  }

  private struct Scope: Encodable {
    let scope: String
    let summary: String
  }

  private enum CodingKeys: String, CodingKey {
    case issuer, resource, authorizationEndpoint, tokenEndpoint, revocationEndpoint, jwksUri
    case userinfoEndpoint, endSessionEndpoint, api, profile, scopes, clients, users
  }

  private let issuer: String
  /// The identifier of the API as a resource; `nil` if the API has no metadata (RFC 9728).
  private let resource: String?
  private let authorizationEndpoint: String
  private let tokenEndpoint: String
  private let revocationEndpoint: String
  private let jwksUri: String
  private let userinfoEndpoint: String
  private let endSessionEndpoint: String
  private let api: API
  private let profile: String?
  private let scopes: [Scope]
  private let clients: [Client]
  private let users: [User]
  private let rules: SandboxRules
  private let registered: [SandboxClient]

  /// Creates a description of a server with these scopes and rules, and of its gRPC server.
  init(
    _ server: SandboxServer, _ grpc: SandboxGRPCServer, scopes: [SandboxScope],
    rules: SandboxRules
  ) {
    self.rules = rules
    registered = server.clients
    profile = rules.profileName
    issuer = server.issuer.absoluteString
    resource = rules.describesAPI ? issuer : nil
    authorizationEndpoint = server.authorizationEndpoint.absoluteString
    tokenEndpoint = server.tokenEndpoint.absoluteString
    revocationEndpoint = server.revocationEndpoint.absoluteString
    jwksUri = server.keysEndpoint.absoluteString
    userinfoEndpoint = server.userInfoEndpoint.absoluteString
    endSessionEndpoint = server.endSessionEndpoint.absoluteString
    api = API(
      me: server.url(.me).absoluteString, list: server.url(.files).absoluteString,
      drive: server.driveURL.absoluteString, upload: server.driveUploadURL.absoluteString,
      grpc: grpc.url.absoluteString)
    self.scopes = scopes.map { Scope(scope: $0.name, summary: $0.summary) }
    clients = server.clients.map { Client(clientId: $0.id, clientSecret: $0.secret) }
    users = server.users.map { User(userName: $0.name, password: $0.password) }
  }

  /// Returns the description as one line of JSON, for a program.
  func json() throws(Failure) -> String { try oneLineOfJSON(self) }

  /// The description as text for the user, with commands to copy.
  var text: String {
    """
    The sandbox is running. Ctrl-C ends it.

    \(addresses)

    Its API, for apps with a token:

    \(apiLines)

    Sign in there, in your browser or, with \(visit), without one:

      sq-demo login --issuer \(issuer) --client-id \(loginClient?.id.onScreen ?? "ID") \\
        \(rules.loginOptions)--scope '\(loginScopes.joined(separator: " "))'

    Then use the token:

      sq-demo whoami
      sq-demo call GET /api/me\(loginScopes.contains("files") ? "\n  sq-demo files" : "")
      sq-demo rpc \(api.grpc)
    \(fromAddress)
    """
  }

  /// The client of the text's `login` command: a client without a secret, if there is any.
  private var loginClient: SandboxClient? {
    registered.first { $0.secret == nil } ?? registered.first
  }

  /// The scopes of the `login` command in the report: the usual scopes and the scopes of the
  /// configuration file, without scopes that the client may not request.
  private var loginScopes: [String] {
    let usual = ["openid", "profile", "email", "demo", "files"]
    let standard = SandboxOptions().scopes.map(\.name)
    let wanted = usual + scopes.map(\.scope).filter { !standard.contains($0) }
    return wanted.filter { loginClient?.scopes?.contains($0) ?? true }
  }

  /// The option for a sign-in without a browser, for a user whom the sandbox knows.
  private var visit: String {
    let hasAlice = users.contains { $0.userName == SandboxUser.alice.name }
    guard !hasAlice, let user = users.first else { return "\(Option.browser.name) sandbox" }
    let value = "sandbox=\(user.userName):\(user.password)"
    return "\(Option.browser.name) \(ShellWords.quote(value.onScreen))"
  }

  /// The commands that need only the API's address.
  ///
  /// The text is empty if the API has no metadata (RFC 9728) or the sandbox has a profile.
  private var fromAddress: String {
    guard rules.describesAPI, rules.profileName == nil else { return "" }
    return """

      Or begin with the API's address alone, without a login:

        sq-demo discover \(api.me)
        sq-demo call \(api.me)
      """
  }

  private var addresses: String {
    let clients = registered.map { ("client", "\($0.id.onScreen), \(rules.words(for: $0))") }
    let users = users.map {
      ("user", "\($0.userName.onScreen), with the password \($0.password.onScreen)")
    }
    return Self.lines(
      [
        ("issuer", issuer), ("authorize", authorizationEndpoint), ("token", tokenEndpoint),
        ("revoke", revocationEndpoint), ("keys", jwksUri), ("userinfo", userinfoEndpoint),
        ("logout", endSessionEndpoint),
      ] + clients + users)
  }

  private var apiLines: String {
    Self.lines(
      [
        ("me", "\(api.me) (the user of the token)"),
        ("list", "\(api.list) (sample and own files)"),
        ("drive", "\(api.drive) (the user's files)"), ("upload", "\(api.upload) (for new files)"),
        ("grpc", "\(api.grpc) (grpc.testing.TestService)"),
      ] + scopes.map { ("scope", "\($0.scope): \($0.summary.onScreen)") })
  }

  private static func lines(_ fields: [(String, String)]) -> String {
    fields.map { "  \($0.padded(to: 11))\($1)" }.joined(separator: "\n")
  }
}
