import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// A provider's servers, which answer as the provider's documentation says.
///
/// Codes, tokens and keys are real values that the servers check. No test signs in at the real
/// provider.
final class PlayedProvider: Sendable {
  typealias Answer = ScriptedTransport.Answer

  private struct State {
    var issued = 0
    var refreshToken = ""
  }

  let fixture: OAuthFixture
  let key: ClientKey
  private let state = Locked(State())

  /// The number of token responses.
  var issued: Int { state.withLock(\.issued) }
  /// The nonce of the last sign-in.
  var nonce: String? { page?.parameters["nonce"] }
  /// The URL that the browser opened last.
  var page: AuthorizationURL? { fixture.opened.last }

  /// Creates a provider; `routes` gives the answer for each method, host and path of a request.
  ///
  /// Any other request gets 404.
  init(_ routes: @escaping @Sendable (PlayedProvider) -> [String: Answer]) throws {
    key = try MadeKeys.key(for: .rs256)
    fixture = OAuthFixture(browser: { fixture, page in
      fixture.oauth.handleRedirect(try page.redirect("code=abc"))
    })
    fixture.oauth.refreshesAutomatically = false
    fixture.http.answer { [weak self] request in
      guard let self else { return WebResponse(status: 500) }
      let place = "\(request.method) \(request.url.host() ?? "")\(request.url.path())"
      guard let answer = routes(self)[place] else { return WebResponse(status: 404) }
      return try await answer(request)
    }
  }

  /// Returns the answer of a token endpoint that checks the code and the refresh token.
  ///
  /// `token` gets the number of the response, and returns its JSON. `refused` is the answer to a
  /// wrong refresh token.
  func tokens(
    rotating: Bool = true, refused: String = #"{"error":"invalid_grant"}"#, status: Int = 400,
    _ token: @escaping @Sendable (Int) async throws -> String
  ) -> Answer {
    { [self] request in
      let form = try #require(ScriptedTransport.form(of: request))
      let isRefresh = form["grant_type"] == "refresh_token"
      if isRefresh {
        let known = state.withLock(\.refreshToken)
        guard form["refresh_token"] == known else {
          return try await ScriptedTransport.json(refused, status: status)(request)
        }
      } else {
        #expect(form["code"] == "abc" && form["code_verifier"]?.count == 43)
      }
      let count = state.withLock { state in
        state.issued += 1
        if rotating || !isRefresh { state.refreshToken = "R\(state.issued)" }
        return state.issued
      }
      return try await ScriptedTransport.json(try await token(count))(request)
    }
  }

  /// Makes the provider refuse the refresh token of the last sign-in.
  func forgetRefreshToken() { state.withLock { $0.refreshToken = "" } }

  /// Returns an ID token for the last sign-in, signed with the provider's key.
  func idToken(_ claims: [String: JSONValue]) async throws -> String {
    let now = Int64(fixture.clock.now.timeIntervalSince1970)
    var all: [String: JSONValue] = [
      "aud": "client", "sub": "user", "iat": .integer(now), "exp": .integer(now + 3600),
    ]
    all["nonce"] = nonce.map(JSONValue.string)
    return try await key.sign(all.merging(claims) { $1 })
  }

  /// Returns the answer with the provider's key set; `members` are added to the key.
  func keys(_ members: [String: JSONValue] = [:]) -> Answer {
    { [key] request in
      var jwk = try #require(key.publicJWK?.object)
      jwk.merge(members) { $1 }
      let set = JSONValue.object(["keys": .array([.object(jwk)])])
      return try await ScriptedTransport.json(
        String(decoding: try JSONEncoder().encode(set), as: UTF8.self))(request)
    }
  }

  /// Returns the requests to a host and path, in order.
  func requests(to place: String) -> [WebRequest] {
    fixture.http.requests.filter { "\($0.url.host() ?? "")\($0.url.path())" == place }
  }

  /// Signs in, lets the token expire, and returns the first and the refreshed token.
  func signInAndRefresh(after seconds: Double) async throws -> (first: SQToken, second: SQToken) {
    let first = try await fixture.oauth.signIn()
    fixture.clock.advance(by: seconds)
    return (first, try await fixture.oauth.token())
  }
}
