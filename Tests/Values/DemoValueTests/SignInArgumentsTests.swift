import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@testable import sq_demo

@Suite struct `Sign-in options` {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private static let provider = ["--issuer", "https://id.example.com", "--client-id", "app"]

  private func options(
    _ words: [String], secret: Secret? = nil, orAccount: Bool = false
  ) throws(Failure) -> SignInArguments {
    try SignInArguments(
      Arguments(words, options: SignInArguments.options, secrets: Secrets(client: secret)),
      orAccount: orAccount)
  }

  /// Returns the options of a command that can sign in on another device.
  private func device(_ words: [String]) throws(Failure) -> SignInArguments {
    try SignInArguments(Arguments(words, options: SignInArguments.options + [.device]))
  }

  @Test func `without a provider, the built-in sandbox is used`() throws {
    let options = try options(["--scope", "demo", "--timeout", "7"])
    #expect(options.configuration == nil)
    #expect(options.scope == "demo")
    #expect(options.browser == .system)
    #expect(options.redirectURI.string == "http://127.0.0.1/callback")
    #expect(options.timeout == .seconds(7) && options.answerLimit == .seconds(7))
  }

  @Test func `by default, a sign-in waits at most 300 s and a request at most 60 s`() throws {
    let options = try options([])
    #expect(options.timeout == .seconds(300) && options.answerLimit == .seconds(60))
  }

  @Test func `an issuer and a client ID create a client`() throws {
    let options = try options(
      Self.provider + ["--scope", "a b", "--auth", "post", "--timeout", "7"],
      secret: Secret(.clientSecret, "hunter2"))
    let client = try #require(options.configuration)
    #expect(client.clientID == "app")
    #expect(client.clientSecret == "hunter2")
    #expect(client.scope == "a b")
    #expect(client.clientAuthentication == .post)
    #expect(client.signInTimeout == .seconds(7))
    #expect(client.redirectURI?.string == "http://127.0.0.1/callback")
    #expect(client.provider == .issuer("https://id.example.com"))
  }

  @Test(arguments: ["EdDSA", "Ed25519"])
  func `the ID token algorithm may be named EdDSA or Ed25519`(name: String) throws {
    let client = try options(Self.provider + ["--id-token-alg", name]).configuration
    #expect(client?.idTokenAlgorithm == .edDSA)
  }

  @Test(arguments: [
    "com.example:/cb?code=a", " com.example:/cb?code=a\t", "\"com.example:/cb?code=a\"",
    "'com.example:/cb?code=a'", "<com.example:/cb?code=a>",
    "\u{1B}[200~com.example:/cb?code=a\u{1B}[201~",
    "\u{1B}[200~\"com.example:/cb?code=a\"\u{1B}[201~",
    "com.example:/cb?co de=a",
  ])
  func `a pasted address may have spaces, quotation marks, angle brackets or paste marks`(
    line: String
  ) {
    #expect(PastedRedirects.redirect(in: line) == "com.example:/cb?code=a")
  }

  @Test(arguments: ["\"", "com.example:/cb?x=\"", "\"com.example:/cb"])
  func `an unpaired quotation mark in a pasted address is not removed`(line: String) {
    #expect(PastedRedirects.redirect(in: line) == line)
  }

  @Test func `options that adapt the client to a server are stored with the account`() throws {
    let words = [
      "--quirk", "missing-token-type", "--quirk", "form-encoded", "--trust-audience", "api",
      "--trust-audience", "b", "--id-token-alg", "ES256", "--without-pkce",
      "--assertion-audience", "endpoint",
    ]
    let client = try #require(try options(Self.provider + words).configuration)
    #expect(client.provider.tokenResponseQuirks == [.missingTokenType, .formEncoded])
    #expect(client.trustedAudiences == ["api", "b"] && client.idTokenAlgorithm == .es256)
    #expect(client.acceptsServersWithoutPKCE)
    #expect(client.provider.assertionAudience == .requestedEndpoint)
    let record = AccountRecord(
      id: "default", clientID: "app", issuer: "https://id.example.com",
      token: SQToken(accessToken: "a"),
      attributes: KeptClient(client, at: .issuer("https://id.example.com")).attributes)
    let later = try options([], orAccount: true).completed(by: record).configuration
    #expect(later == client)
    let changed = try options(["--id-token-alg", "RS256"], orAccount: true).completed(by: record)
      .configuration
    #expect(changed?.idTokenAlgorithm == .rs256 && changed?.trustedAudiences == ["api", "b"])
    #expect(changed?.provider.assertionAudience == .requestedEndpoint)
    let plain = try #require(try options(Self.provider).configuration)
    #expect(
      KeptClient(plain, at: .issuer("https://id.example.com")).exceptions.attributes.isEmpty)
  }

  @Test(arguments: [
    ("issuer", AssertionAudience.issuer), ("token-endpoint", .tokenEndpoint),
    ("endpoint", .requestedEndpoint), ("https://id.example/x", .other("https://id.example/x")),
  ])
  func `the audience of assertions is stored with the account unless it is the default`(
    word: String, audience: AssertionAudience
  ) throws {
    for (server, usual) in [
      (Self.provider, AssertionAudience.issuer),
      (["--provider", "google", "--client-id", "app"], .tokenEndpoint),
    ] {
      let options = try options(server + ["--assertion-audience", word])
      let client = try #require(options.configuration)
      #expect(client.provider.assertionAudience == audience)
      let kept = KeptClient(client, at: try #require(options.server))
      #expect(kept.attributes["assertion_audience"] == (audience == usual ? nil : word))
      #expect(kept.exceptions.assertionAudience == (audience == usual ? nil : audience))
    }
  }

  @Test(arguments: [
    ("missing", ".missingTokenType to the provider", "--quirk missing-token-type"),
    ("type", ".anyContentType to the provider", "--quirk any-content-type"),
    ("form", ".formEncoded to the provider", "--quirk form-encoded"),
    ("aud", "trustedAudiences", "--trust-audience"), ("alg", "idTokenAlgorithm", "--id-token-alg"),
    ("pkce", "acceptsServersWithoutPKCE", "--without-pkce"),
    ("audience", "set the provider's assertionAudience", "--assertion-audience endpoint"),
    ("profile", "the provider's assertionAudience must be the issuer", "leave --assertion"),
    ("key", "check that the server has the public half of this key", "the file that --key names"),
    ("method", "the server lists: private_key_jwt; give the configuration a clientKey", "--key"),
    ("proof", "dpop_jkt is missing, and no pushed request had a proof", "--dpop"),
    ("basic", "clientAuthentication to client_secret_post", "--auth post"),
  ])
  func `an SDK error that names a property gets a hint with the option`(
    name: String, advice: String, option: String
  ) {
    let failure = Failure(SQOAuthError(.invalidResponse, "\(name): \(advice)"))
    #expect(failure.hint?.contains(option) == true)
  }

  @Test func `an authorization endpoint, a token endpoint and a client ID create a client`() throws
  {
    let options = try options([
      "--authorize=https://a.example/x", "--token=https://a.example/y", "--client-id=app",
    ])
    #expect(
      options.configuration?.provider
        == .endpoints(authorization: "https://a.example/x", token: "https://a.example/y"))
  }

  /// Returns the options of a usable provider, followed by the words.
  private static func known(_ words: [String]) -> [String] { provider + words }

  private static let unusableWords: [([String], String, String)] = [
    (
      ["--authorize", "https://id.example.com/a", "--token", "https://id.example.com/t"], "usage",
      "--client-id is missing"
    ),
    (["--authorize", "https://a.example", "--client-id", "x"], "usage", "need each other"),
    (["--token", "https://a.example", "--client-id", "x"], "usage", "need each other"),
    (known(["--authorize", "https://a.example"]), "usage", "leave --authorize"),
    (known(["--token", "https://a.example"]), "usage", "leave --authorize"),
    (["--client-id", "x"], "usage", "needs a provider"),
    (["--auth", "none"], "usage", "needs a provider"),
    (["--client-secret-file", "x"], "usage", "needs a provider"),
    (["--issuer", "http://id.example.com", "--client-id", "x"], "insecure_endpoint", "https"),
    (["--issuer", "nonsense", "--client-id", "x"], "invalid_configuration", "issuer"),
    (["--redirect-uri", "http://example.com/"], "invalid_configuration", "127.0.0.1"),
    (known(["--redirect-uri", "http://example.com/"]), "invalid_configuration", "127.0.0.1"),
    (["--provider", "google"], "usage", "--client-id is missing"),
    (["--provider", "goggles", "--client-id", "x"], "usage", "--provider takes"),
    (["--provider", "keycloak", "--client-id", "x"], "usage", "/realms/REALM"),
    (known(["--provider", "google"]), "usage", "knows its endpoints"),
    (
      ["--provider", "facebook", "--token", "https://a.example", "--client-id", "x"], "usage",
      "knows its endpoints"
    ),
    (
      ["--provider", "sequencing", "--client-id", "x", "--auth", "basic"], "invalid_configuration",
      "needs a client secret"
    ),
    (known(["--revocation", "https://a.example"]), "usage", "leave --authorize"),
    (["--revocation", "https://a.example", "--client-id", "x"], "usage", "need each other"),
    (known(["--jwks", "https://a.example"]), "usage", "leave --authorize"),
    (["--userinfo", "https://a.example", "--client-id", "x"], "usage", "need each other"),
    (
      ["--provider", "google", "--jwks", "https://a.example", "--client-id", "x"], "usage",
      "knows its endpoints"
    ),
    (known(["--auth", "basic"]), "invalid_configuration", "needs a client secret"),
    (known(["--auth", "jwt"]), "usage", "--auth takes"),
    (known(["--quirk", "any"]), "usage", "--quirk takes"),
    (known(["--assertion-audience", ""]), "usage", "needs a value"),
    (known(["--id-token-alg", "none"]), "usage", "--id-token-alg takes"),
    (["--quirk", "form-encoded"], "usage", "needs a provider"),
    (["--without-pkce"], "usage", "needs a provider"),
    (["--assertion-audience", "endpoint"], "usage", "needs a provider"),
    (known(["--timeout", "0"]), "usage", "--timeout takes"),
    (known(["--resource", "http://api.example"]), "insecure_endpoint", "uses http;"),
    (known(["--resource", "nonsense"]), "malformed_request", ""),
    (known(["--timeout", "-1"]), "usage", "--timeout takes"),
    (known(["--timeout", "1.5"]), "usage", "--timeout takes"),
    (known(["--timeout", "99999999999999999999"]), "usage", "--timeout takes"),
    (known(["--browser", "'x"]), "usage", "not closed"),
    (known(["--browser", "  "]), "usage", "empty"),
    (known(["--browser", "'' x"]), "usage", "empty"),
    (known(["--browser", "sandbox"]), "usage", "on this machine"),
    (known(["--client-secret-file", "/nonexistent/file"]), "usage", "No such file"),
    (known(["--client-secret-file", "/"]), "usage", "Is a directory"),
    (known(["--client-secret-file", "/dev/null"]), "usage", "empty first line"),
    (known(["--client-secret-file", "/dev/zero"]), "usage", "has a NUL"),
  ]

  @Test(arguments: unusableWords)
  func `unusable options are rejected before anything starts`(
    words: [String], code: String, message: String
  ) throws {
    let failure = try #require(throws: Failure.self) { try options(words) }
    #expect(failure.code == code)
    #expect(failure.message.contains(message), "\(failure.message)")
    #expect(failure.status == .wrongUsage)
  }

  @Test(arguments: [
    ("a\0b\n", "has a NUL"), ("\n", "empty first line"), ("\r\nsecret", "empty first line"),
    ("", "empty first line"), (String(repeating: "a", count: 65537), "longer than 65536 bytes"),
  ])
  func `a file without a usable secret is rejected`(content: String, reason: String) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("secret")
    try folder.write(content, to: "secret")
    let failure = try #require(throws: Failure.self) {
      try options(Self.provider + ["--client-secret-file", path])
    }
    #expect(failure.code == "usage" && failure.message.contains(reason), "\(failure.message)")
  }

  /// Without a client ID, the program would register a new client, but the secret belongs to an
  /// existing one.
  @Test func `a secret without a client is rejected, and the error names --client-secret-file`()
    throws
  {
    let failure = try #require(throws: Failure.self) {
      try options(["--issuer", "https://id.example"], secret: Secret(.clientSecret, "hunter2"))
    }
    #expect(failure.message.contains("--client-secret-file"), "\(failure.message)")
  }

  @Test(arguments: ["secret", "secret\n", "secret\r\nmore\0", "secret\n\0"])
  func `the first line of a file is the secret`(content: String) throws {
    let folder = try TemporaryFolder()
    try folder.write(content, to: "secret")
    #expect(try Secret(.clientSecret, file: folder.file("secret")).value == "secret")
  }

  @Test func `an issuer, keys and endpoints given by hand create a client`()
    throws
  {
    let options = try device([
      "--authorize=https://a.example/x", "--token=https://a.example/y", "--client-id=app",
      "--issuer=https://a.example", "--jwks=https://a.example/keys",
      "--userinfo=https://a.example/u",
      "--device-authorization=https://a.example/d", "--device",
    ])
    let client = try #require(options.configuration)
    #expect(
      client.provider
        == .endpoints(
          authorization: "https://a.example/x", token: "https://a.example/y",
          deviceAuthorization: "https://a.example/d", jwks: "https://a.example/keys",
          userInfo: "https://a.example/u", issuer: "https://a.example"))
    let server = try #require(options.server)
    let record = AccountRecord(
      id: "default", clientID: "app", issuer: "https://a.example",
      token: SQToken(accessToken: "x"), attributes: KeptClient(client, at: server).attributes)
    #expect(KeptClient(record).server == server, "an account keeps all of them")
  }

  @Test func `the option --revocation sets the client's revocation endpoint`() throws {
    let options = try options([
      "--authorize=https://a.example/x", "--token=https://a.example/y", "--client-id=app",
      "--revocation=https://a.example/z",
    ])
    #expect(
      options.configuration?.provider
        == .endpoints(
          authorization: "https://a.example/x", token: "https://a.example/y",
          revocation: "https://a.example/z"))
  }

  @Test(arguments: [
    ("http://127.0.0.1/callback", [], true), ("http://[::1]:80/x", [], true),
    ("com.example.app:/x", [], false), ("https://app.example.com/x", [], false),
    ("com.example.app:/x", ["--browser", "sandbox"], true),
  ])
  func `a redirect that the program cannot receive has to be pasted`(
    uri: String, more: [String], isReceived: Bool
  ) throws {
    #expect(try options(["--redirect-uri", uri] + more).readsNoInput == isReceived)
  }

  @Test func `an account supplies the options that are missing`() throws {
    let arguments = try Arguments(
      ["--auth", "post"], options: SignInArguments.options,
      secrets: Secrets(client: Secret(.clientSecret, "hunter2")))
    let options = try SignInArguments(arguments, orAccount: true)
    let token = SQToken(accessToken: "x")
    let record = AccountRecord(
      id: "default", clientID: "app", issuer: "https://id.example.com", token: token)
    let client = try #require(try options.completed(by: record).configuration)
    #expect(client.clientID == "app")
    #expect(client.clientSecret == "hunter2")
    #expect(client.clientAuthentication == .post)
    #expect(client.provider == .issuer("https://id.example.com"))
    let homeless = AccountRecord(id: "default", clientID: "app", token: token)
    #expect(try options.completed(by: homeless).configuration == nil)
    #expect(throws: Failure.self) { try options.checkForSandbox() }
  }

  @Test(arguments: [
    (["--issuer", "https://id.example.com", "--client-id", "app"], "kept"),
    ([], "kept"),
    (["--issuer", "https://id.example.org", "--client-id", "app"], nil),
    (["--issuer", "https://id.example.com", "--client-id", "another"], nil),
  ])
  func `an account's secret is used only for its own client and server`(
    words: [String], secret: String?
  ) throws {
    let record = AccountRecord(
      id: "default", clientID: "app", issuer: "https://id.example.com",
      token: SQToken(accessToken: "x"),
      attributes: ["client_secret": "kept", "scope": "a b", "redirect_uri": "com.example.app:/x"])
    let client = try options(words).completed(by: record).configuration
    #expect(client?.clientSecret == secret)
    #expect(client?.scope == (secret == nil ? nil : "a b"))
    #expect((client?.redirectURI?.string == "com.example.app:/x") == (secret != nil))
  }

  @Test func `options take precedence over an account's values`() throws {
    let record = AccountRecord(
      id: "default", clientID: "app", issuer: "https://id.example.com",
      token: SQToken(accessToken: "x"),
      attributes: [
        "client_secret": "kept", "scope": "a b", "redirect_uri": "com.example.app:/x",
        "token_endpoint_auth_method": "client_secret_basic",
      ])
    let given = try Arguments(
      ["--auth", "post", "--scope", "c", "--redirect-uri", "http://127.0.0.1/here"],
      options: SignInArguments.options, secrets: Secrets(client: Secret(.clientSecret, "given")))
    let client = try SignInArguments(given, orAccount: true).completed(by: record).configuration
    #expect(client?.clientSecret == "given")
    #expect(client?.scope == "c")
    #expect(client?.redirectURI?.string == "http://127.0.0.1/here")
    #expect(client?.clientAuthentication == .post)
  }

  @Test(arguments: [
    ("hunter2", "hunter2"), ("hunter2\n", "hunter2"), ("hunter2\r\nmore\n", "hunter2"),
    (" hunter 2 \n", " hunter 2 "),
  ])
  func `the first line of a secret file takes precedence over the environment`(
    content: String, secret: String
  ) throws {
    try folder.write(content, to: "secret")
    let options = try options(
      Self.provider + ["--client-secret-file", folder.file("secret")],
      secret: Secret(.clientSecret, "other"))
    #expect(options.configuration?.clientSecret == secret)
  }

  @Test(arguments: [
    ("http://127.0.0.1:8080", true), ("http://localhost/", true), ("http://[::1]:1", true),
    ("https://id.example.com", false), ("http://127.0.0.1.example.com", false), ("", false),
  ])
  func `the simulated visitor opens only addresses of this machine`(
    address: String, isAllowed: Bool
  ) {
    #expect(EmbeddedSandbox.canBeVisited(address) == isAllowed)
  }

  @Test func `no secret is printed`() throws {
    let secrets = Secrets(
      client: Secret(.clientSecret, "hunter2"), passphrase: Secret(.passphrase, "hunter2"),
      keyPassphrase: Secret(.keyPassphrase, "hunter2"),
      accessToken: Secret(.accessToken, "hunter2"))
    var dumped = ""
    dump(secrets, to: &dumped)
    #expect(!"\(secrets)\(String(reflecting: secrets))\(dumped)".contains("hunter2"))
  }
}
