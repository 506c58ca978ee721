import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@testable import sq_demo

@Suite struct `Options for protections beyond plain OAuth 2` {
  private let folder: TemporaryFolder
  private var path: String { folder.file("key.pem") }

  init() throws {
    folder = try TemporaryFolder()
    try folder.write(KeyPair.p256.privatePEM, to: "key.pem")
  }

  private static let issuer = "https://id.example.com"
  private static let provider = ["--issuer", issuer, "--client-id", "app"]

  private func options(
    _ words: [String], orAccount: Bool = false, passphrase: String? = nil
  ) throws(Failure) -> SignInArguments {
    try SignInArguments(
      Arguments(
        words, options: SignInArguments.options,
        secrets: Secrets(keyPassphrase: passphrase.map { Secret(.keyPassphrase, $0) })),
      orAccount: orAccount)
  }

  /// Returns the record that an account with these options has.
  private func record(_ options: SignInArguments) throws -> AccountRecord {
    let client = try #require(options.configuration)
    return AccountRecord(
      id: "work", clientID: "app", issuer: Self.issuer, token: SQToken(accessToken: "a"),
      attributes: KeptClient(client, at: .issuer(Self.issuer), keyFile: options.key?.path)
        .attributes)
  }

  @Test(
    arguments: [
      ([], false, false, .standard), (["--par"], true, false, .standard),
      (["--dpop"], false, true, .standard), (["--profile", "fapi2"], false, false, .fapi2),
      (["--profile", "fapi2-signed", "--dpop", "--par"], true, true, .fapi2MessageSigning),
    ] as [([String], Bool, Bool, SecurityProfile)])
  func `protection options configure the client and are restored from the stored account`(
    words: [String], pushes: Bool, binds: Bool, profile: SecurityProfile
  ) throws {
    let given = try options(Self.provider + words + ["--key", path])
    let client = try #require(given.configuration)
    #expect(client.pushesAuthorizationRequests == pushes)
    #expect(client.tokenBinding == (binds ? .dpop() : nil))
    #expect(client.profile == profile)
    #expect(try client.clientKey == ClientKey(pem: KeyPair.p256.privatePEM))
    #expect(given.protections.bindsTokens == (binds || profile != .standard))
    let record = try record(given)
    #expect(try options([], orAccount: true).completed(by: record).configuration == client)
  }

  /// Without the limit, an older program could send a token where its user did not allow it.
  @Test(arguments: [
    ("security_profile", "fapi-3"), ("id_token_signed_response_alg", "ML-DSA-44"),
    ("resource_origins", "https://*.example"), ("resource_origins", ""),
    ("resource_origins", "https://api.example.com https://*.example"),
  ])
  func `an account with a limit that a later version stored is not used without the limit`(
    name: String, value: String
  ) throws {
    let plain = try self.record(options(Self.provider))
    _ = try options([], orAccount: true).completed(by: plain)
    func record(_ more: [String: String]) -> AccountRecord {
      AccountRecord(
        id: "work", clientID: "app", issuer: Self.issuer, token: plain.token,
        attributes: plain.attributes.merging(more) { $1 })
    }
    let words: [[String]] = [[], ["--profile", "fapi2", "--key", path]]
    for words in words {
      let failure = try #require(throws: Failure.self) {
        try options(words, orAccount: true).completed(by: record([name: value]))
      }
      #expect(failure.code == "store_too_new" && failure.message.contains(name))
      #expect(failure.hint?.contains("'sq-demo revoke'") == true)
      let ending = try options(words, orAccount: true)
        .completed(by: record([name: value]), ends: true)
      #expect(ending.configuration?.clientID == "app")
    }
    let kept = KeptClient(record([name: value, "resource": "https://api.example.com"]))
    #expect(throws: Failure.self) { try options(Self.provider).forResource(of: kept) }
  }

  @Test func `an account has attributes only for the protections that it uses`() throws {
    let names = [
      "client_key_file", "require_pushed_authorization_requests", "dpop_bound_access_tokens",
      "security_profile",
    ]
    let plain = try record(options(Self.provider)).attributes
    #expect(names.allSatisfy { plain[$0] == nil })
    let all = try record(
      options(Self.provider + ["--par", "--dpop", "--profile", "fapi2", "--key", path])
    ).attributes
    #expect(names.allSatisfy { all[$0] != nil })
  }

  @Test func `an account stores only the path of a client key`() throws {
    let attributes = try record(options(Self.provider + ["--key", path])).attributes
    #expect(attributes["client_key_file"] == path)
    let secret = KeyPair.p256.privatePEM.split(separator: "\n")[1]
    #expect(!attributes.values.contains { $0.contains(secret) || $0.contains("PRIVATE") })
  }

  @Test func `an option adds to an account's protections or replaces its profile and its key`()
    throws
  {
    let record = try record(
      options(Self.provider + ["--par", "--profile", "fapi2", "--key", path]))
    try folder.write(KeyPair.ed25519.privatePEM, to: "other.pem")
    let changed = try options(
      ["--dpop", "--profile", "fapi2-signed", "--key", folder.file("other.pem")], orAccount: true
    ).completed(by: record)
    let client = try #require(changed.configuration)
    #expect(client.pushesAuthorizationRequests && client.tokenBinding == .dpop())
    #expect(client.profile == .fapi2MessageSigning && client.clientKey?.algorithm == .edDSA)
    #expect(changed.key?.path == folder.file("other.pem"))
  }

  @Test func `an account's key and protections are not used for a different client`() throws {
    let record = try record(options(Self.provider + ["--par", "--dpop", "--key", path]))
    let other = try options(["--issuer", Self.issuer, "--client-id", "other"])
      .completed(by: record)
    #expect(other.key == nil && other.configuration?.clientKey == nil)
    #expect(other.protections == SignInProtections([:]))
  }

  @Test(arguments: [nil, "nonsense"])
  func `the error for an account whose key cannot be read names the file and a login command`(
    content: String?
  ) throws {
    let record = try record(options(Self.provider + ["--key", path]))
    try FileManager.default.removeItem(atPath: path)
    if let content { try folder.write(content, to: "key.pem") }
    let failure = try #require(throws: Failure.self) {
      try options([], orAccount: true).completed(by: record)
    }
    #expect(failure.code == "key_unavailable" && failure.status == .notAuthorized)
    #expect(failure.message.contains(path) && failure.message.contains("work"))
    #expect(failure.hint?.contains("'sq-demo login --account work --key FILE'") == true)
    try folder.write(KeyPair.p256.privatePEM, to: "moved.pem")
    let moved = try options(["--key", folder.file("moved.pem")], orAccount: true)
    #expect(try moved.completed(by: record).configuration?.clientKey != nil)
  }

  @Test func `a client key can replace a client secret that was not stored`() throws {
    let record = AccountRecord(
      id: "work", clientID: "app", issuer: Self.issuer, token: SQToken(accessToken: ""),
      attributes: ["issuer": Self.issuer, "needs_client_secret": "true"])
    #expect(throws: Failure.self) { try options([], orAccount: true).completed(by: record) }
    let client = try options(["--key", path], orAccount: true).completed(by: record)
    #expect(client.configuration?.clientKey != nil)
  }

  @Test func `a client with an encrypted key has no key until the passphrase is given`()
    async throws
  {
    let sealed = try ClientKey(pem: KeyPair.p256.privatePEM).pem(passphrase: "open sesame")
    try folder.write(sealed, to: "key.pem")
    let locked = try options(Self.provider + ["--key", path, "--auth", "key"])
    #expect(locked.key?.isLocked == true)
    #expect(locked.configuration != nil && locked.configuration?.clientKey == nil)
    let open = try options(
      Self.provider + ["--key", path, "--auth", "key"], passphrase: "open sesame")
    #expect(open.configuration?.clientKey != nil)
    #expect(open.configuration?.clientAuthentication == .privateKeyJWT)
    let later = try options([], orAccount: true, passphrase: "open sesame")
      .completed(by: record(locked))
    #expect(later.configuration?.clientKey != nil, "the passphrase opens an account's key too")
    let failure = try #require(throws: Failure.self) {
      try options([], orAccount: true, passphrase: "barley").completed(by: record(locked))
    }
    #expect(failure.code == "wrong_passphrase" && failure.message.contains(path))
  }

  @Test func `a request for a different scope changes no other setting of the client`() throws {
    let words = [
      "--without-pkce", "--id-token-alg", "ES256", "--trust-audience", "api", "--dpop", "--par",
      "--profile", "fapi2", "--key", path, "--resource", "https://api.example.com",
    ]
    let asking = try options(Self.provider + words).requesting(scope: "openid")
    let expected = try options(Self.provider + words + ["--scope", "openid"])
    #expect(asking.configuration == expected.configuration)
  }

  @Test(arguments: [
    (["--profile", "fapi"], "--profile takes fapi2 or fapi2-signed, not \"fapi\"; did you mean"),
    (["--profile", "atproto"], "--profile takes fapi2 or fapi2-signed"),
    (["--key", "/nonexistent/key.pem"], "/nonexistent/key.pem cannot be read: No such file"),
    (["--key", "/"], "Is a directory"), (["--auth", "key"], "needs a client key"),
    (["--par=yes"], "--par takes no value"), (["--key-passphrase", "x"], "SQ_KEY_PASSPHRASE"),
  ])
  func `unusable protections and keys are rejected before anything starts`(
    words: [String], message: String
  ) throws {
    let failure = try #require(throws: Failure.self) { try options(Self.provider + words) }
    #expect(failure.status == .wrongUsage)
    #expect(failure.message.contains(message), "\(failure.message)")
  }

  @Test(arguments: [
    ("set the configuration's tokenBinding", "use --dpop."),
    ("set the configuration's tokenBinding, and sign in again", "sign in again with --dpop."),
    ("without the configuration's tokenBinding or FAPI", "leave --dpop or --profile out"),
    ("although the configuration's pushesAuthorizationRequests is set", "leave --par out"),
    ("the server cannot follow the client's profile FAPI 2.0; clientKey", "leave --profile out"),
    ("with a clientKey of the algorithm PS256", "a file with such a key: --key FILE"),
    ("the client has no key to sign with; set the configuration's clientKey", "--key FILE"),
    ("signed with the clientKey's algorithm RS256", "a key of another algorithm"),
    ("does not list private_key_jwt; if", "use --auth key"),
    ("it must have a provider with an issuer", "--issuer"),
  ])
  func `an SDK error about keys and protections gets a hint with the option`(
    message: String, hint: String
  ) {
    let failure = Failure(SQOAuthError(.signInUnsupported, message))
    #expect(failure.hint?.contains(hint) == true, "\(failure.hint ?? "no hint")")
  }

  // MARK: The command sandbox

  private func rules(_ words: [String]) throws(Failure) -> SandboxRules {
    try SandboxRules(Arguments(words, options: SandboxRules.options))
  }

  private func sandbox(_ words: [String]) throws -> SandboxOptions {
    var options = SandboxOptions()
    try rules(words).apply(to: &options)
    return options
  }

  @Test func `a sandbox has the rules and the client that its options name`() throws {
    let plain = try sandbox([])
    #expect(
      plain.dpop.policy == .off && plain.clients.map(\.id) == SandboxOptions().clients.map(\.id))
    #expect(try sandbox(["--dpop"]).dpop.policy == .accepted)
    let atProtocol = try sandbox(["--profile", "atproto"])
    #expect(atProtocol.dpop.policy == .required && atProtocol.clients.first?.id == "sandbox-app")
    let strict = try sandbox(["--profile", "fapi2", "--client-key", path])
    #expect(strict.requiresPushedAuthorizationRequests && !strict.requiresSignedRequests)
    #expect(strict.clients.map(\.id) == ["sandbox-key-app"])
    #expect(strict.clients.first?.authentication == [.privateKeyJWT])
    #expect(
      try sandbox(["--profile", "fapi2-signed", "--client-key", path]).requiresSignedRequests)
    let keyed = try sandbox(["--client-key", path])
    #expect(keyed.clients.map(\.id).first == "sandbox-key-app" && keyed.clients.count == 3)
  }

  @Test func `a sandbox's report names the options for a login at the sandbox`() throws {
    try folder.write(KeyPair.p256.publicPEM, to: "public.pem")
    for (words, login) in [
      ([], ""), (["--dpop"], "--dpop "), (["--profile", "atproto"], "--par --dpop "),
      (["--client-key", path], "--key \(path) "),
      (["--client-key", folder.file("public.pem")], "--key FILE "),
      (["--profile", "fapi2", "--client-key", path], "--key \(path) --profile fapi2 "),
      (["--dpop", "--client-key", path], "--key \(path) --dpop "),
    ] {
      #expect(try rules(words).loginOptions == login)
    }
  }

  @Test
  func `a sandbox rejects an unknown profile and a missing or unsuitable client key`() throws {
    try folder.write(KeyPair.p384.publicPEM, to: "384.pem")
    try folder.write(KeyPair.rsa.publicPEM, to: "rsa.pem")
    for (words, message) in [
      (["--profile", "fapi2"], "needs the key of its client: --client-key FILE"),
      (["--profile", "fapi2", "--client-key", folder.file("384.pem")], "is for ES384"),
      (["--profile", "atproto", "--client-key", folder.file("rsa.pem")], "is for PS256"),
      (["--profile", "fapi3"], "did you mean fapi2?"),
      (["--client-key", folder.file("none")], "No such file"),
    ] {
      let failure = try #require(throws: Failure.self) { try rules(words) }
      #expect(failure.status == .wrongUsage && failure.message.contains(message))
    }
    #expect(throws: Never.self) { try rules(["--client-key", folder.file("384.pem")]) }
  }
}
