import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import SequencingOAuthPipes
@testable import TestSupport

/// The texts that Swift makes of the SDK's values.
///
/// None may contain a secret.
@Suite struct PrintingTests {
  static let canary = "C4N4RY"
  static let token = SQToken(
    accessToken: canary, expirationDate: Date(), scope: "demo", refreshToken: canary,
    issueDate: Date(),
    additionalFields: [
      "id_token": .string(canary), canary: .null,
      "more": .object(["deep": .array([.string(canary)])]),
    ], nonce: canary)
  static let request: WebRequest = {
    var request = WebRequest(
      method: "POST", url: URL(filePath: "/"), headers: ["Authorization": "Basic \(canary)"],
      body: .bytes(Data(canary.utf8)))
    if let url = URL(string: "https://s.example/t?code=\(canary)#\(canary)") { request.url = url }
    request.headers.append(.init(name: "X-Secret", value: canary))
    return request
  }()
  static let response = WebResponse(
    status: 200, headers: ["X-Token": canary, "Set-Cookie": canary], body: Data(canary.utf8),
    trailers: ["X-Trailer": canary])

  static func configuration() throws -> ClientConfiguration {
    var provider = Provider.endpoints(
      authorization: "https://s.example/a", token: "https://s.example/t?key=\(canary)")
    provider.tokenParameters = ["key": canary]
    return try ClientConfiguration(
      clientID: "id", clientSecret: canary, redirectURI: "http://127.0.0.1/cb", provider: provider,
      tokenParameters: ["other": canary])
  }

  static func expectSilence(
    _ value: Any, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let text = everyText(of: value)
    #expect(!text.contains(canary), "\(type(of: value)): \(text)", sourceLocation: sourceLocation)
    // The value must also hide its secret inside an array, a dictionary, an optional and a tuple.
    let container: [Any] = [value]
    #expect(
      !everyText(of: container).contains(canary), "in an array", sourceLocation: sourceLocation)
    #expect(
      !everyText(of: ["k": Optional(value) as Any]).contains(canary), "in a dictionary",
      sourceLocation: sourceLocation)
    #expect(
      !everyText(of: (1, value)).contains(canary), "in a tuple", sourceLocation: sourceLocation)
  }

  @Test func `a printed token shows no secret`() {
    Self.expectSilence(Self.token)
    Self.expectSilence(Result<SQToken, SQOAuthError>.success(Self.token))
  }

  @Test func `an account's printed record shows no secret`() {
    Self.expectSilence(AccountRecord(id: "a", clientID: "c", token: Self.token))
  }

  @Test func `a client's printed configuration shows no secret`() throws {
    Self.expectSilence(try Self.configuration())
  }

  /// An API key among the parameters is as secret as a password.
  @Test func `a printed provider shows no parameter`() throws {
    Self.expectSilence(try Self.configuration().provider)
  }

  @Test func `a printed request shows no query, header or body`() {
    Self.expectSilence(Self.request)
    Self.expectSilence(Self.request.body)
    Self.expectSilence(Self.request.headers)
    Self.expectSilence(Self.request.headers[Self.request.headers.startIndex])
    Self.expectSilence(WebRequestBody.stream(length: nil) { { Data(Self.canary.utf8) } })
  }

  @Test func `a printed response shows no header, body or trailer`() {
    Self.expectSilence(Self.response)
    Self.expectSilence(Self.response.head)
    Self.expectSilence(Self.response.trailers)
  }

  @Test func `a printed store shows no token`() async throws {
    let folder = try TemporaryFolder()
    let record = AccountRecord(id: "a", clientID: "c", token: Self.token)
    for store in [MemoryTokenStore(), FileTokenStore(path: folder.file("t"))] as [any TokenStore] {
      try await store.save(record)
      Self.expectSilence(store)
      var environment = ClientEnvironment()
      environment.tokenStore = store
      Self.expectSilence(environment)
    }
  }

  @Test func `printed requests and client credentials show no secret`() throws {
    let url = try #require(URL(string: "https://s.example/t"))
    let pkce = PKCE(verifier: Self.canary)
    Self.expectSilence(pkce)
    Self.expectSilence(
      AuthorizationRequest(
        endpoint: url, clientID: "id", redirectURI: "http://127.0.0.1/", scope: nil, state: "s",
        nonce: "n", pkce: pkce, extraParameters: []))
    for authentication in [ClientAuthentication.basic, .post, .privateKeyJWT] {
      let client = ClientCredentials(
        id: "id", secret: Self.canary, authentication: authentication, assertion: Self.canary)
      let request = TokenRequest(
        endpoint: url, parameters: [.init("code", Self.canary), .init("password", Self.canary)],
        client: client, timeout: .seconds(1))
      Self.expectSilence(request)
      Self.expectSilence(request.httpRequest())
      Self.expectSilence(client)
    }
  }

  @Test func `a printed pipeline, pipe or page shows no secret`() async throws {
    let canary = Self.canary
    let fixture = try await PipeFixture(
      isSignedIn: false, change: { $0 = (try? Self.configuration()) ?? $0 }
    )
    .answering(#"{"next":"?page=\#(canary)"}"#)
    try await fixture.session.module.session.takeOver(
      AccountRecord(id: "default", clientID: "id", token: Self.token),
      since: fixture.session.module.session.appEndCount)
    var configuration = PipeConfiguration(endpoint: "two?key=\(canary)")
    configuration.paging = .body()
    let pipe = try fixture.pipeline.add("two", configuration)
    let pages = pipe.pages(parameters: ["key": canary])
    let page = try await pages.first()
    #expect(page.nextURL?.query() == "page=\(canary)")
    var iterator = pages.makeAsyncIterator()
    _ = try await iterator.next()
    _ = try await iterator.next()
    for value in [fixture.pipeline, pipe, configuration, pages, page, iterator] as [Any] {
      Self.expectSilence(value)
    }
  }

  /// The registered client and the token are in the object that an app keeps.
  @Test func `a printed SQOAuth object shows no secret`() async throws {
    var environment = ClientEnvironment()
    let store = MemoryTokenStore()
    environment.tokenStore = store
    let oauth = SQOAuth(environment: environment)
    oauth.register(try Self.configuration())
    Self.expectSilence(oauth)
    Self.expectSilence(oauth.result)
    let context = ClientContext(.success(try Self.configuration()), environment)
    Self.expectSilence(context)
    let session = TokenSession(context, accountID: "a")
    try await session.takeOver(
      AccountRecord(id: "a", clientID: "c", token: Self.token), since: session.appEndCount)
    #expect(session.token == Self.token)
    Self.expectSilence(session)
    let value = OneShot<SQToken>()
    value.resolve(Self.token)
    Self.expectSilence(value)
  }
}
