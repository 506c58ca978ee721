import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// Signs alice in at an independent server, in a real browser, on that server's own pages.
@Suite(.requires(.chromium), .requires(.glewlwyd))
struct GlewlwydSignInTests {
  /// How a client is registered and how it finds the server.
  struct Way: Sendable, CustomTestStringConvertible {
    let client: Glewlwyd.Client
    let authentication: ClientAuthentication?
    let discovers: Bool

    var testDescription: String {
      "\(client.rawValue), \(authentication?.rawValue ?? "no choice"), "
        + (discovers ? "discovered" : "endpoints by hand")
    }

    func provider(_ server: Glewlwyd) -> Provider {
      discovers
        ? .issuer(server.issuer)
        : .endpoints(
          authorization: server.authorizationEndpoint, token: server.tokenEndpoint,
          issuer: server.issuer)
    }
  }

  static let ways = [
    Way(client: .confidential, authentication: .basic, discovers: true),
    Way(client: .confidential, authentication: .post, discovers: true),
    Way(client: .public, authentication: nil, discovers: true),
    Way(client: .confidential, authentication: nil, discovers: false),
  ]

  @Test(.timeLimit(.minutes(15)), arguments: ways)
  func `alice signs in, and the token is hers`(way: Way) async throws {
    try await Glewlwyd.running { server in
      try await Browser.open { browser in
        let screen = Screen()
        let redirectURI = try server.takeRedirectURI()
        let oauth = browser.startSignIn(
          telling: screen,
          try ClientConfiguration(
            clientID: way.client.rawValue, clientSecret: way.client.secret,
            redirectURI: redirectURI, scope: "read write", provider: way.provider(server),
            clientAuthentication: way.authentication))

        try await browser.logInToGlewlwyd(as: .alice)
        try await browser.consentOnGlewlwyd(to: ["read", "write"])
        _ = try await browser.arrive(at: redirectURI)
        #expect(try await browser.text(of: "h1") == "You are signed in")

        guard case .authorized(let token) = try await screen.event() else {
          Issue.record("not signed in: \(screen.events)")
          return
        }
        #expect(screen.events.count == 1)
        #expect(oauth.result.token == token)
        #expect(token.tokenType.lowercased() == "bearer")
        #expect(token.refreshToken != nil)
        let lifetime = try #require(token.expirationDate).timeIntervalSinceNow
        #expect((3000...3600).contains(lifetime))

        let answer = try await server.introspect(token.accessToken)
        #expect(answer.active)
        #expect(answer.username == "alice")
        #expect(answer.clientID == way.client.rawValue)
        #expect(Set(answer.scope?.split(separator: " ") ?? []) == ["read", "write"])
      }
    }
  }

  @Test(.timeLimit(.minutes(15)))
  func `a user who grants nothing is not signed in, and the app can cancel`() async throws {
    try await Glewlwyd.running { server in
      try await Browser.open { browser in
        let screen = Screen()
        let redirectURI = try server.takeRedirectURI()
        let oauth = browser.startSignIn(
          telling: screen,
          try ClientConfiguration(
            clientID: Glewlwyd.Client.public.rawValue, redirectURI: redirectURI, scope: "read",
            provider: .issuer(server.issuer)))

        try await browser.logInToGlewlwyd(as: .alice)
        try await browser.refuseConsentOnGlewlwyd()
        #expect(try await browser.url.hasPrefix(redirectURI) == false)
        #expect(oauth.isSigningIn)
        #expect(screen.events.isEmpty)

        oauth.cancelSignIn()
        guard case .cancelled = try await screen.event() else {
          Issue.record("not cancelled: \(screen.events)")
          return
        }
        #expect(screen.events.count == 1)
        #expect(oauth.result.token == nil)
      }
    }
  }

  @Test(.timeLimit(.minutes(15)))
  func `an error redirect of the server is reported to the app`() async throws {
    try await Glewlwyd.running { server in
      try await Browser.open { browser in
        let screen = Screen()
        let redirectURI = try server.takeRedirectURI()
        let oauth = browser.startSignIn(
          telling: screen,
          try ClientConfiguration(
            clientID: Glewlwyd.Client.public.rawValue, redirectURI: redirectURI, scope: "read",
            provider: .issuer(server.issuer), authorizationParameters: ["prompt": "none"]))

        _ = try await browser.arrive(at: redirectURI)
        guard case .notAuthorized(let error) = try await screen.event() else {
          Issue.record("no error: \(screen.events)")
          return
        }
        #expect(screen.events.count == 1)
        // Nobody is logged in, and the server may not show a page.
        #expect(error.code == SQOAuthError.Code(rawValue: "interaction_required"))
        #expect(oauth.result.token == nil)
        #expect(try await browser.text(of: "h1") == "The sign\u{2011}in failed")
      }
    }
  }
}
