import Foundation
import LoopbackSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

@testable import sq_demo

@Suite(.timeLimit(.minutes(1))) struct `Known providers` {
  private static let realm = "https://id.example.com/realms/demo"
  private static let keycloak = Provider.keycloak(baseURL: "https://id.example.com", realm: "demo")

  private static let all: [(words: [String], provider: Provider, address: String)] = [
    (["sequencing"], .sequencing, "https://sequencing.com/oauth2/authorize?"),
    (["google"], .google, "https://accounts.google.com/o/oauth2/v2/auth?"),
    (["facebook"], .facebook, "https://www.facebook.com/dialog/oauth?"),
    (["keycloak", "--issuer", realm], keycloak, "\(realm)/protocol/openid-connect/auth?"),
    (["github"], .gitHub, "https://github.com/login/oauth/authorize?"),
    (["gitlab"], .gitLab, "https://gitlab.com/oauth/authorize?"),
    (
      ["gitlab", "--issuer", "https://git.example.com"],
      .gitLab(baseURL: "https://git.example.com"), "https://git.example.com/oauth/authorize?"
    ),
    (
      ["microsoft"], .microsoft(), "https://login.microsoftonline.com/common/oauth2/v2.0/authorize?"
    ),
    (
      ["microsoft", "--tenant", "consumers"], .microsoft(tenant: "consumers"),
      "https://login.microsoftonline.com/consumers/oauth2/v2.0/authorize?"
    ),
    (
      ["apple", "--team", "TEAM456789", "--redirect-uri", "https://app.example.com/callback"],
      .apple(teamID: "TEAM456789"), "https://appleid.apple.com/auth/authorize?"
    ),
    (["slack"], .slack, "https://slack.com/oauth/v2_user/authorize?"),
  ]

  /// Providers whose endpoints are in their metadata.
  private static let discovered: [(words: [String], provider: Provider, address: String)] = [
    (
      ["okta", "--issuer", "https://example.okta.com/oauth2/default"],
      .okta(domain: "https://example.okta.com"), ""
    ),
    (
      ["okta", "--issuer", "https://example.okta.com/"],
      .okta(domain: "https://example.okta.com", authorizationServer: nil), ""
    ),
    (
      ["auth0", "--issuer", "https://example.eu.auth0.com/", "--audience", "api"],
      .auth0(domain: "https://example.eu.auth0.com/", audience: "api"), ""
    ),
  ]

  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private static func options(_ words: [String]) throws(Failure) -> SignInArguments {
    try SignInArguments(
      Arguments(
        ["--client-id", "app", "--provider"] + words, options: SignInArguments.options,
        secrets: Secrets(client: Secret(.clientSecret, "hunter2"))))
  }

  /// Returns the issuer that the SDK saves in the record of an account at a known provider.
  ///
  /// Returns `nil` for another server and for a provider without an issuer.
  private static func issuer(of server: Server) -> String? {
    guard case .known(let known) = server else { return nil }
    return known.issuer
  }

  @Test(arguments: all + discovered)
  func `known providers use the SDK's complete provider settings`(
    words: [String], provider: Provider, address: String
  ) throws {
    #expect(try Self.options(words).configuration?.provider == provider)
  }

  @Test(arguments: [
    ("https://id.example.com/realms/demo/", "https://id.example.com"),
    ("https://id.example.com/auth/realms/demo", "https://id.example.com/auth"),
    ("http://127.0.0.1:8080/realms/demo", "http://127.0.0.1:8080"),
  ])
  func `the base URL and the realm of Keycloak are read from the issuer`(
    issuer: String, base: String
  ) throws {
    let provider = try Self.options(["keycloak", "--issuer", issuer]).configuration?.provider
    #expect(provider == .keycloak(baseURL: base, realm: "demo"))
  }

  @Test(arguments: [
    "https://id.example.com", "https://id.example.com/realms/", "https://id.example.com/realms/a/b",
    "https://id.example.com/realms/a%20b", "https://id.example.com/realms/a?b",
  ])
  func `known providers reject a Keycloak issuer without a valid realm`(issuer: String) throws {
    let failure = try #require(throws: Failure.self) {
      try Self.options(["keycloak", "--issuer", issuer])
    }
    #expect(failure.message.contains("--issuer https://HOST/realms/REALM"))
  }

  @Test(arguments: all)
  func `a login at a known provider sends the user to the provider's authorization endpoint`(
    words: [String], provider: Provider, address: String
  ) async throws {
    let demo = try DemoProcess(
      ["login", "--client-id", "app", "--browser", "print", "--provider"] + words, in: folder,
      environment: ["SQ_CLIENT_SECRET": "hunter2"])
    try await eventually("an address is printed") { demo.output.hasSuffix("\n") }
    demo.send(SIGINT)
    let output = await demo.outcome().output
    #expect(output.hasPrefix(address), "\(output)")
    #expect(output.contains("mobile=1") == (provider == .sequencing))
    #expect(!output.contains("hunter2"))
  }

  /// The account stores its provider, so that a later command uses the provider's settings.
  @Test(arguments: all + discovered)
  func `known providers are stored with the account`(
    words: [String], provider: Provider, address: String
  ) throws {
    let options = try Self.options(words)
    let client = try #require(options.configuration)
    let server = try #require(options.server)
    let record = AccountRecord(
      id: "default", clientID: "app", issuer: Self.issuer(of: server),
      token: SQToken(accessToken: "x"),
      attributes: KeptClient(client, at: server).attributes)
    #expect(KeptClient(record).server == server && server.has(record))
    let nothing = try SignInArguments(
      Arguments([], options: SignInArguments.options), orAccount: true)
    let resumed = try nothing.completed(by: record).configuration
    #expect(resumed?.provider == provider)
    #expect(resumed?.clientSecret == "hunter2")
    let other = try SignInArguments(
      Arguments(
        ["--issuer", "https://other.example", "--client-id", "app"],
        options: SignInArguments.options)
    )
    let configuration = try #require(try other.completed(by: record).configuration)
    #expect(configuration.clientSecret == nil)
  }

  @Test(arguments: [
    ("alice.bsky.social", true), ("@Alice.bsky.social", true), (alice, true),
    ("bob.bsky.social", false), ("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa", false),
  ])
  func `an account of Bluesky fits the handle and the DID of its user only`(
    name: String, fits: Bool
  ) throws {
    let server = "https://pds.example.com"
    var client = try ClientConfiguration(
      clientID: "app", redirectURI: "http://127.0.0.1/callback", scope: "atproto",
      provider: .issuer(server))
    client.expectedSubject = Self.alice
    let words = ["--provider", "bluesky", "--handle", name]
    let options = try SignInArguments(Arguments(words, options: SignInArguments.options))
    let signedIn = try options.signingIn(client, at: server, as: "alice.bsky.social")
    let kept = KeptClient(client, at: .issuer(server), handle: signedIn.handle)
    let record = AccountRecord(
      id: "default", clientID: "app", issuer: server, token: SQToken(accessToken: "x"),
      attributes: kept.attributes)
    #expect(options.fit(record) == fits && options.mayUse(record) == fits)
    // The account's own server gets the requests, not the server of most users.
    let completed = try options.completed(by: record)
    #expect(completed.configuration?.provider == (fits ? Provider.issuer(server) : nil))
    // A later search begins with the DID, and keeps the handle.
    let later = try completed.signingIn(client, at: server, as: nil)
    #expect(later.handle == (fits ? "alice.bsky.social" : nil))
  }

  private static let alice = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"

  @Test(arguments: [
    (["okta"], "--issuer https://DOMAIN/oauth2/default"), (["auth0"], "--issuer https://DOMAIN"),
    (["apple"], "--team ID"), (["bluesky"], "--handle alice.bsky.social"),
    (["github", "--issuer", "https://github.com"], "knows its endpoints"),
    (["github", "--tenant", "common"], "takes no --tenant"),
    (["google", "--handle", "alice.bsky.social"], "takes no --handle"),
    (["slack", "--team", "T1"], "takes no --team"), (["okta", "--audience", "a"], "--issuer"),
    (["githup"], "github"), (["microsoft", "--tenant", "contoso.com"], "Directory (tenant) ID"),
    (["okta", "--issuer", "https://x.okta.com/oauth2/a/b"], "--issuer https://DOMAIN"),
  ])
  func `an error names the option that a known provider needs or does not take`(
    words: [String], message: String
  ) throws {
    let failure = try #require(throws: Failure.self) { try Self.options(words) }
    #expect(failure.message.contains(message), "\(failure.message)")
  }

  @Test func `the option --tenant is rejected without --provider`() throws {
    let failure = try #require(throws: Failure.self) {
      try SignInArguments(
        Arguments(
          ["--issuer", "https://id.example.com", "--client-id", "app", "--tenant", "common"],
          options: SignInArguments.options))
    }
    #expect(failure.message.contains("--tenant belongs to a --provider"))
  }

  @Test(arguments: [
    ("/home/a/AuthKey_ABC123DEFG.p8", "ABC123DEFG"), ("AuthKey_.p8", nil), ("key.pem", nil),
    ("AuthKey_ABC.pem", nil),
  ])
  func `the key ID of an Apple key is read from its file name`(path: String, id: String?) {
    #expect(KeyFile.appleKeyID(in: path) == id)
  }

  @Test(arguments: [
    (["apple", "--team", "T", "--client-id", "app"], "key with which the client signs"),
    (
      ["bluesky", "--handle", "127.0.0.1"],
      "neither a handle, such as alice.bsky.social, nor a DID"
    ),
  ])
  func `an Apple login without a key and a Bluesky login with an invalid handle fail at once`(
    words: [String], message: String
  ) async throws {
    let outcome = try await DemoProcess.run(
      ["login", "--browser", "print", "--provider"] + words, in: folder)
    #expect(outcome.status != 0 && outcome.output.isEmpty)
    #expect(outcome.errors.contains(message), "\(outcome.errors)")
  }

  @Test func `a login without the client secret that a known provider requires fails at once`()
    async throws
  {
    let outcome = try await DemoProcess.run(
      ["login", "--provider", "sequencing", "--client-id", "app", "--browser", "print"], in: folder)
    #expect(outcome.status == 2 && outcome.output.isEmpty)
    #expect(outcome.firstError.hasPrefix("error: secret_needed: Sequencing.com "))
    #expect(outcome.errors.contains("SQ_CLIENT_SECRET"))
  }

  @Test(arguments: [
    ("https://accounts.google.com", DriveAddress.drive("https://www.googleapis.com/drive/v2")),
    (
      "https://sequencing.com",
      .sequencing("https://api.sequencing.com/DataSourceList?all=true")
    ),
  ])
  func `files are listed at Google's or Sequencing's own API, and Facebook has none`(
    server: String, address: DriveAddress
  ) throws {
    #expect(try DriveAddress(nil, at: server) == address)
    let provider = server.contains("google") ? KnownProvider.google : .sequencing
    #expect(provider.address == server)
    #expect(throws: Failure.self) { try DriveAddress(nil, at: KnownProvider.facebook.address) }
  }
}
