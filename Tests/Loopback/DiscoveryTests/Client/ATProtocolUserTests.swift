import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import SequencingOAuthDiscovery
@testable import TestSupport

/// The search for a user of AT Protocol, with a scripted transport.
struct ATProtocolUserTests {
  private static let did = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"
  private static let otherDID = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"

  private static func document(
    _ did: String = did, handle: String = "alice.bsky.social",
    server: String = "https://pds.example.com"
  ) -> String {
    ##"{"id":"\##(did)","alsoKnownAs":["at://\##(handle)"],"service":[{"id":"#other","type":"X","serviceEndpoint":"https://x.example.com"},{"id":"#atproto_pds","type":"AtprotoPersonalDataServer","serviceEndpoint":"\##(server)"}]}"##
  }

  /// The answers of honest servers, by address.
  private static let honest: [String: String] = [
    "https://alice.bsky.social/.well-known/atproto-did": did + "\n",
    "https://plc.directory/\(did)": document(),
    "https://pds.example.com/.well-known/oauth-protected-resource":
      #"{"resource":"https://pds.example.com","authorization_servers":["https://bsky.social"]}"#,
  ]

  /// The addresses of a search by handle, in order.
  private static let addresses = [
    "https://alice.bsky.social/.well-known/atproto-did", "https://plc.directory/\(did)",
    "https://pds.example.com/.well-known/oauth-protected-resource",
  ]

  private let http = ScriptedTransport()

  private func find(
    _ name: String, _ changes: [String: String?] = [:], resolver: String? = nil,
    observer: ClientObserver? = nil
  ) async throws -> ATProtocolUser {
    var answers = Self.honest
    for (address, answer) in changes { answers[address] = answer }
    http.answer { [answers] request in
      guard let body = answers[request.url.absoluteString] else { return WebResponse(status: 404) }
      let type = body.hasPrefix("{") ? "application/json" : "text/plain"
      return WebResponse(
        status: 200, headers: ["Content-Type": type], body: Data(body.utf8))
    }
    var environment = ClientEnvironment()
    environment.transport = http
    environment.observer = observer
    return try await ATProtocolUser.find(
      name, environment: environment, handleResolver: resolver)
  }

  @Test(arguments: ["alice.bsky.social", "@Alice.Bsky.Social"])
  func `a search by handle returns the user's DID, server and issuer`(name: String) async throws {
    let user = try await find(name)
    #expect(user.did == Self.did && user.handle == "alice.bsky.social")
    #expect(user.server == "https://pds.example.com" && user.issuer == "https://bsky.social")
  }

  @Test func `a search by DID returns the user's issuer and no handle`() async throws {
    let user = try await find(Self.did)
    #expect(user.handle == nil && user.issuer == "https://bsky.social")
    #expect(http.requests.count == 2)
  }

  @Test func `a handle whose domain returns 404 is looked up at the handle resolver`()
    async throws
  {
    let changes: [String: String?] = [
      "https://alice.bsky.social/.well-known/atproto-did": nil,
      "https://r.example.com/xrpc/com.atproto.identity.resolveHandle?handle=alice.bsky.social":
        #"{"did":"\#(Self.did)"}"#,
    ]
    #expect(
      try await find("alice.bsky.social", changes, resolver: "https://r.example.com").did
        == Self.did)
    await failure(.resourceMetadataInvalid) { try await find("alice.bsky.social", changes) }
  }

  @Test func `a 503 response of the DID directory causes a server error with status 503`()
    async throws
  {
    http.answer { request in
      WebResponse(status: request.url.host() == "plc.directory" ? 503 : 404)
    }
    var environment = ClientEnvironment()
    environment.transport = http
    let error = await failure(.serverError) {
      try await ATProtocolUser.find(Self.did, environment: environment)
    }
    #expect(error?.status == 503 && error?.message.contains("plc.directory") == true)
  }

  @Test(arguments: [nil, 503])
  func `without a resolver, an outage of the handle's domain is not reported as a missing DID`(
    status: Int?
  ) async throws {
    http.answer { _ in
      guard let status else { throw SQOAuthError(.connectionFailed, "no route") }
      return WebResponse(status: status)
    }
    var environment = ClientEnvironment()
    environment.transport = http
    for resolver in [nil, "https://r.example.com"] {
      let error = await failure(status == nil ? .connectionFailed : .serverError) {
        try await ATProtocolUser.find(
          "alice.bsky.social", environment: environment, handleResolver: resolver)
      }
      #expect(error?.status == status)
    }
    // A resolver that knows no DID either may be right, so the outage is only the cause.
    http.answer { request in
      guard request.url.host() == "r.example.com" else {
        throw SQOAuthError(.connectionFailed, "no route")
      }
      return WebResponse(status: 404)
    }
    let error = await failure(.resourceMetadataInvalid) {
      try await ATProtocolUser.find(
        "alice.bsky.social", environment: environment, handleResolver: "https://r.example.com")
    }
    #expect((error?.cause as? SQOAuthError)?.code == .connectionFailed)
  }

  @Test(arguments: [
    "https://alice.bsky.social/.well-known/atproto-did", "https://plc.directory/\(did)",
  ])
  func `if the lookup of a handle or DID gets a 404 response, the error has status 404`(
    address: String
  ) async throws {
    let error = await failure(.resourceMetadataInvalid) {
      try await find("alice.bsky.social", [address: nil], resolver: "https://r.example.com")
    }
    #expect(error?.status == 404, "\(error?.message ?? "")")
  }

  @Test func `a did:web DID is resolved by the document at its domain`() async throws {
    let did = "did:web:alice.example.com"
    let user = try await find(
      did, ["https://alice.example.com/.well-known/did.json": Self.document(did)])
    #expect(user.did == did)
  }

  static let frauds: [[String: String?]] = [
    // The owner of a domain names the DID of another user.
    ["https://plc.directory/\(did)": document(handle: "bob.bsky.social")],
    ["https://plc.directory/\(did)": document(otherDID)],
    ["https://plc.directory/\(did)": document(server: "https://127.0.0.1")],
    ["https://plc.directory/\(did)": document(server: "https://localhost")],
    ["https://plc.directory/\(did)": document(server: "http://pds.example.com")],
    ["https://plc.directory/\(did)": document(server: "https://pds.example.com/path")],
    ["https://plc.directory/\(did)": document(server: "https://a@pds.example.com")],
    ["https://plc.directory/\(did)": #"{"id":"\#(did)","alsoKnownAs":["at://alice.bsky.social"]}"#],
    ["https://plc.directory/\(did)": "[]"], ["https://plc.directory/\(did)": nil],
    ["https://alice.bsky.social/.well-known/atproto-did": "<html>"],
    ["https://alice.bsky.social/.well-known/atproto-did": "did:plc:../../x"],
    [
      "https://pds.example.com/.well-known/oauth-protected-resource":
        #"{"resource":"https://pds.example.com","authorization_servers":["https://a.example.com","https://b.example.com"]}"#
    ],
    [
      "https://pds.example.com/.well-known/oauth-protected-resource":
        #"{"resource":"https://other.example.com","authorization_servers":["https://bsky.social"]}"#
    ],
  ]

  @Test(arguments: frauds.indices)
  func `a contradictory, unusable or missing document ends the search for a user`(index: Int)
    async throws
  {
    let fraud = Self.frauds[index]
    await failure(.resourceMetadataInvalid) { try await find("alice.bsky.social", fraud) }
    // The search ends at the refused document, so it asks no server that the document names.
    let end = try #require(Self.addresses.firstIndex { fraud.keys.contains($0) })
    #expect(http.requests.map(\.url.absoluteString) == Array(Self.addresses[...end]))
  }

  @Test(arguments: [
    "", "alice", "@", "alice..social", "-a.social", "alice.local", "a.localhost", "127.0.0.1",
    "alice.bsky.social/x", "al\u{E9}.social", "did:plc:short", "did:web:127.0.0.1",
    "did:web:a.example.com:443", "did:key:z6Mk", "did:web:../x", "https://alice.bsky.social",
  ])
  func `a text that is neither a handle nor a supported DID is rejected without a request`(
    name: String
  ) async throws {
    await failure(.invalidConfiguration) { try await find(name) }
    #expect(http.requests.isEmpty)
  }

  @Test(arguments: [
    "did:key:z6Mk", "did:web:alice.example.com%3A8443", "did:plc:short", "did:web:localhost",
  ])
  func `the error names a domain's unusable DID, and the handle resolver is not asked`(did: String)
    async throws
  {
    let error = await failure(.resourceMetadataInvalid) {
      try await find(
        "alice.bsky.social", ["https://alice.bsky.social/.well-known/atproto-did": did],
        resolver: "https://r.example.com")
    }
    #expect(error?.message.contains(did) == true, "\(error?.message ?? "")")
    #expect(http.requests.count == 1)
  }

  @Test(arguments: [
    #"{"id":"\#(did)","service":[],"service":[{"id":"x"}]}"#,
    #"{"id":"\#(did)","alsoKnownAs":["at://alice.bsky.social"],"alsoKnownAs":["at://eve.social"]}"#,
    #"{"id":"\#(did)","id":"\#(otherDID)"}"#,
  ])
  func `a DID document with duplicate members is refused`(text: String) async throws {
    await failure(.resourceMetadataInvalid) {
      try await find("alice.bsky.social", ["https://plc.directory/\(Self.did)": text])
    }
  }

  @Test(arguments: [false, true])
  func `an observer gets the handle only if it asks for account names`(namesAccounts: Bool)
    async throws
  {
    let texts = Locked<[String]>([])
    let observer = ClientObserver(namesAccounts: namesAccounts) { event in
      texts.withLock { $0.append(event.description) }
    }
    _ = try await find("alice.bsky.social", observer: observer)
    await observer.flush()
    let found = texts.withLock(\.self)
    #expect(found.contains { $0.contains("alice") } == namesAccounts, "\(found)")
    #expect(found.contains { $0.contains("pds.example.com") })
  }

  @Test(arguments: [
    ("authorization_endpoint", "https://127.0.0.1:9/a"), ("token_endpoint", "https://[::1]/t"),
    ("pushed_authorization_request_endpoint", "https://localhost:9/t"),
    ("jwks_uri", "https://127.1/keys"),
  ])
  func `an authorization server whose metadata names an endpoint on this computer is refused`(
    name: String, address: String
  ) async throws {
    let user = try await find("alice.bsky.social")
    let server = "https://bsky.social"
    var endpoints = [
      "authorization_endpoint": "\(server)/a", "token_endpoint": "\(server)/t",
      "pushed_authorization_request_endpoint": "\(server)/p",
    ]
    endpoints[name] = address
    let members = endpoints.map { #","\#($0)":"\#($1)""# }.joined()
    http.answer(
      ScriptedTransport.json(
        #"{"issuer":"\#(server)","code_challenge_methods_supported":["S256"],"response_types_supported":["code"]\#(members)}"#
      ))
    let oauth = SQOAuth()
    oauth.environment.transport = http
    oauth.register(
      try user.configuration(
        clientID: "https://app.example.com/client.json", redirectURI: "http://127.0.0.1/callback"))
    let before = http.requests.count
    await failure(.insecureEndpoint) { try await oauth.signIn() }
    #expect(http.requests.count == before + 1, "nothing is sent to an endpoint")
  }

  @Test func `the configuration for a user follows the rules of AT Protocol`() async throws {
    let user = try await find("alice.bsky.social")
    let configuration = try user.configuration(
      clientID: "https://app.example.com/client.json", redirectURI: "http://127.0.0.1/callback")
    #expect(configuration.provider.identifier == "https://bsky.social")
    #expect(configuration.tokenBinding == .dpop() && configuration.pushesAuthorizationRequests)
    #expect(configuration.expectedSubject == Self.did)
    #expect(configuration.requiredScopes == ["atproto"])
    #expect(!configuration.acceptsServersOnThisComputer)
    #expect(configuration.resourceOrigins == [try ResourceOrigin("https://pds.example.com")])
    failure(.invalidConfiguration) {
      try user.configuration(
        clientID: "https://app.example.com/client.json", redirectURI: "http://127.0.0.1/callback",
        scope: "openid")
    }
  }

  @Test func `the loopback client ID contains the redirect URI and the scope`() {
    #expect(
      ATProtocolUser.loopbackClientID()
        == "http://localhost?redirect_uri=http%3A%2F%2F127.0.0.1%2Fcallback&scope=atproto")
  }
}
