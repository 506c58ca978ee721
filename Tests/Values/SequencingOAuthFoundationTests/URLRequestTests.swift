import Foundation
import SQBasics
import SequencingOAuth
import SequencingOAuthFoundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// An authenticator of an app, whose server sends a nonce in a field of its own.
private final class NonceAuthenticator: ResourceRequestAuthenticator {
  let nonce = Locked<String?>(nil)

  func headerFields(for token: SQToken) -> HeaderFields {
    ["X-Nonce": nonce.withLock(\.self) ?? "none"]
  }

  func repeats(
    _ request: ResourceRequest, with token: SQToken, afterStatus status: Int, fields: HeaderFields
  ) async -> Bool {
    nonce.withLock { $0 = fields["X-Next"] }
    return true
  }
}

/// Access tokens in Foundation's `URLRequest`.
@Suite(.timeLimit(.minutes(1))) struct URLRequestTests {
  private let store = MemoryTokenStore()

  private func module(
    expiresIn seconds: TimeInterval = 3600,
    change: (inout ClientConfiguration) throws -> Void = { _ in }
  ) async throws -> AuthorizationModule {
    var configuration = try ClientConfiguration(
      clientID: "client", redirectURI: "http://127.0.0.1/callback",
      provider: .endpoints(
        authorization: "https://id.example/authorize", token: "https://id.example/token"))
    try change(&configuration)
    var environment = ClientEnvironment()
    environment.tokenStore = store
    let now = Date()
    await store.save(
      AccountRecord(
        id: "default", clientID: "client",
        token: SQToken(
          accessToken: "T", expirationDate: now + seconds, tokenType: "bearer", issueDate: now)))
    return AuthorizationModule(configuration: configuration, environment: environment)
  }

  private func request(_ url: String = "https://api.example/x?q=1") throws -> URLRequest {
    var request = URLRequest(url: try #require(URL(string: url)))
    request.httpMethod = "PUT"
    request.httpBody = Data("body".utf8)
    request.setValue("kept", forHTTPHeaderField: "X-Other")
    request.setValue("Basic old", forHTTPHeaderField: "authorization")
    return request
  }

  @Test func `authenticate copies a request with the token, and leaves the original unchanged`()
    async throws
  {
    let original = try request()
    let copy = try await module().authenticate(original)
    #expect(copy.value(forHTTPHeaderField: "Authorization") == "Bearer T")
    #expect(copy.allHTTPHeaderFields?.count == 2)
    #expect(copy.value(forHTTPHeaderField: "X-Other") == "kept")
    #expect(copy.httpMethod == "PUT" && copy.httpBody == Data("body".utf8))
    #expect(copy.url == original.url)
    #expect(original.value(forHTTPHeaderField: "Authorization") == "Basic old")
  }

  @Test func `an authorization sets the header, and is not renewed without a refresh token`()
    async throws
  {
    let module = try await module()
    var request = try request()
    let url = try #require(request.url)
    let authorization = try await module.authorization(for: url, method: "PUT")
    request.set(authorization)
    #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer T")
    #expect(request.value(forHTTPHeaderField: "X-Other") == "kept")
    for (status, challenge) in [(200, nil), (401, #"Bearer error="invalid_request""#)] {
      let response = try #require(
        HTTPURLResponse(
          url: url, statusCode: status, httpVersion: nil,
          headerFields: challenge.map { ["WWW-Authenticate": $0] }))
      #expect(try await authorization.renewed(after: response) == nil)
    }
    let refusal = try #require(
      HTTPURLResponse(url: url, statusCode: 401, httpVersion: nil, headerFields: nil))
    #expect(try await authorization.renewed(after: refusal) == nil, "there is no refresh token")
  }

  @Test func `an authenticator of the app sees all fields of a refusal`() async throws {
    let module = try await module()
    module.environment.requestAuthenticator = NonceAuthenticator()
    let url = try #require(URL(string: "https://api.example/x"))
    let authorization = try await module.authorization(for: url, method: "GET")
    let response = try #require(
      HTTPURLResponse(
        url: url, statusCode: 403, httpVersion: nil, headerFields: ["x-next": "n1"]))
    let next = try await authorization.renewed(after: response)
    #expect(next?.fields["X-Nonce"] == "n1")
  }

  @Test func `SQOAuth authenticates a request with the stored token`() async throws {
    let oauth = SQOAuth(environment: try await module().environment)
    oauth.register(
      try ClientConfiguration(
        clientID: "client", provider: .endpoints(token: "https://id.example/token")))
    let copy = try await oauth.authenticate(try request())
    #expect(copy.value(forHTTPHeaderField: "Authorization") == "Bearer T")
  }

  @Test func `a completion handler gets the async form's result, on the main actor`() async throws {
    let oauth = SQOAuth(environment: try await module().environment)
    let request = try request()
    oauth.register(
      try ClientConfiguration(
        clientID: "client", provider: .endpoints(token: "https://id.example/token")))
    let copy = await withCheckedContinuation { done in
      Task { @MainActor in
        oauth.authenticate(request) { result in
          MainActor.assertIsolated()
          done.resume(returning: result)
        }
      }
    }
    #expect(try copy.get().value(forHTTPHeaderField: "Authorization") == "Bearer T")
  }

  @Test func `a completion handler gets the async form's error`() async throws {
    let module = try await module(expiresIn: -1)
    let request = try request()
    let result = await withCheckedContinuation { done in
      module.authenticate(request) { done.resume(returning: $0) }
    }
    let error = #expect(throws: SQOAuthError.self) { try result.get() }
    #expect(error?.code == .notAuthorized)
  }

  @Test func `a request without a valid token fails`() async throws {
    let module = try await module(expiresIn: -1)
    await #expect { try await module.authenticate(try request()) } throws: {
      ($0 as? SQOAuthError)?.code == .notAuthorized
    }
  }

  @Test func `a request to a server that the app did not name gets no token`() async throws {
    let module = try await module()
    _ = try await module.authenticate(try request())
    await #expect { try await module.authenticate(try request("https://other.example/")) } throws: {
      ($0 as? SQOAuthError)?.code == .originNotAllowed
    }
    try module.allowTokens(at: "https://api.example", "https://other.example")
    for url in ["https://api.example/", "https://other.example/"] {
      _ = try await module.authenticate(try request(url))
    }
  }

  @Test func `a request without a URL, to another origin or over http gets no token`() async throws
  {
    let module = try await module {
      $0.resourceOrigins = [try ResourceOrigin("https://api.example")]
    }
    _ = try await module.authenticate(try request())
    for (url, code) in [
      ("https://other.example/", SQOAuthError.Code.originNotAllowed),
      ("https://api.example:8443/", .originNotAllowed),
      ("http://api.example/", .insecureEndpoint),
      ("ftp://api.example/", .malformedRequest),
    ] {
      await #expect { try await module.authenticate(try request(url)) } throws: {
        ($0 as? SQOAuthError)?.code == code
      }
    }
    var changed = try request()
    changed.url = nil
    let broken = changed
    await #expect { try await module.authenticate(broken) } throws: {
      ($0 as? SQOAuthError)?.code == .malformedRequest
    }
  }
}
