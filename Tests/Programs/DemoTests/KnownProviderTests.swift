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

  /// The issuer that the SDK saves in the record.
  private static func issuer(of server: Server) -> String? {
    guard case .known(let known) = server else { return nil }
    return known.issuer
  }

  @Test(arguments: all)
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
  func `known providers read the realm of Keycloak from the issuer`(issuer: String, base: String)
    throws
  {
    let provider = try Self.options(["keycloak", "--issuer", issuer]).configuration?.provider
    #expect(provider == .keycloak(baseURL: base, realm: "demo"))
  }

  @Test(arguments: [
    "https://id.example.com", "https://id.example.com/realms/", "https://id.example.com/realms/a/b",
    "https://id.example.com/realms/a%20b", "https://id.example.com/realms/a?b",
  ])
  func `known providers reject a Keycloak issuer without a realm`(issuer: String) throws {
    let failure = try #require(throws: Failure.self) {
      try Self.options(["keycloak", "--issuer", issuer])
    }
    #expect(failure.message.contains("--issuer https://HOST/realms/REALM"))
  }

  @Test(arguments: all)
  func `known providers send the user to their own address`(
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

  /// The account stores its provider, so that a refresh goes to the right server of Sequencing.
  @Test(arguments: all)
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
    #expect(try other.completed(by: record).configuration?.clientSecret == nil)
  }

  @Test func `known providers reject a sign-in without a required secret before it begins`()
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
  func `known providers list files at the address of their API`(
    server: String, address: DriveAddress
  ) throws {
    #expect(try DriveAddress(nil, at: server) == address)
    let provider = server.contains("google") ? KnownProvider.google : .sequencing
    #expect(provider.address == server)
    #expect(throws: Failure.self) { try DriveAddress(nil, at: KnownProvider.facebook.address) }
  }
}
