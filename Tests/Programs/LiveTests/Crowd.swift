import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// An app whose session at glewlwyd has a refresh timer and many callers that ask for tokens.
struct Crowd: Sendable {
  static let size = 64

  let module: AuthorizationModule
  let requests = TokenRequestCount()
  /// The events of the session since the sign-in.
  let events: AsyncStream<SessionEvent>
  private let store: FileTokenStore

  /// Signs alice in.
  init(at server: Glewlwyd, keptIn store: FileTokenStore) async throws {
    self.store = store
    var environment = ClientEnvironment()
    environment.tokenStore = store
    environment.transport = requests
    environment.userAgent = CustomUserAgent { url in
      try await server.visit(url, as: .alice, granting: ["read", "write"], to: .public)
    }
    module = AuthorizationModule(
      configuration: try ClientConfiguration(
        clientID: Glewlwyd.Client.public.rawValue, redirectURI: try server.takeRedirectURI(),
        scope: "read write", provider: .issuer(server.issuer)),
      environment: environment)
    try await module.signIn()
    events = module.events()
    module.refreshesAutomatically = true
  }

  /// Waits in real time until the token is no longer returned.
  func tokenHasExpired() async throws {
    let token = module.validToken
    try await eventually("the token expires") { module.validToken != token }
  }

  /// Lets all callers ask for a token at the same time, and returns their results.
  func ask() async -> [Result<SQToken, SQOAuthError>] {
    await withTaskGroup { group in
      for _ in 0..<Self.size {
        group.addTask { [module] in
          do throws(SQOAuthError) {
            return Result<SQToken, SQOAuthError>.success(try await module.token())
          } catch {
            return .failure(error)
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
  }

  /// Lets the callers ask for a token after each of `times` expiries.
  ///
  /// Each caller must get a newer token.
  func rotate(times: Int) async throws {
    for rotation in 1...times {
      let old = try #require(module.currentToken)
      try await tokenHasExpired()
      let tokens = try await ask().map { try $0.get() }
      let newer = tokens.count {
        $0.accessToken != old.accessToken && $0.refreshToken != old.refreshToken
      }
      #expect(newer == Self.size, "rotation \(rotation)")
    }
  }

  /// Checks that the stored refresh token is the newest one and works.
  func newestRefreshTokenWorks(at server: Glewlwyd) async throws {
    module.refreshesAutomatically = false
    // On a slow machine a token of 5 s may expire before it is checked.
    let introspection = try await eventually("a new token is good") {
      let token = try await module.refresh()
      #expect(try await store.load("default")?.token == token)
      let answer = try? await server.introspect(token.accessToken)
      return answer?.active == true ? answer : nil
    }
    #expect(introspection.username == "alice")
  }
}
