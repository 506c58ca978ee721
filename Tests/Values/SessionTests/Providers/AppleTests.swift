import Foundation
import SQBasics
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// A client of Apple, at servers that answer as Apple's documentation says.
@Suite("At Apple", .timeLimit(.minutes(1))) struct AppleTests {
  /// The longest lifetime that Apple accepts, in seconds: six months.
  private static let longest = 15_777_000

  private func party(_ key: ClientKey) throws -> PlayedProvider {
    let party = try PlayedProvider { party in
      [
        "POST appleid.apple.com/auth/token": { request in
          try Self.check(request, key)
          return try await party.tokens(rotating: false) { count in
            let idToken = try await party.idToken([
              "iss": "https://appleid.apple.com", "email": "a@privaterelay.appleid.com",
              "email_verified": "true", "is_private_email": "true", "nonce_supported": true,
            ])
            let refresh = count == 1 ? #","refresh_token":"R1""# : ""
            return
              #"{"access_token":"T\#(count)","token_type":"Bearer","expires_in":3600,"id_token":"\#(idToken)"\#(refresh)}"#
          }(request)
        },
        "POST appleid.apple.com/auth/revoke": { request in
          try Self.check(request, key)
          return WebResponse(status: 200)
        },
        "GET appleid.apple.com/auth/keys": party.keys(),
      ]
    }
    party.fixture.oauth.register(
      try ClientConfiguration(
        clientID: "client", clientKey: key, redirectURI: "https://app.example/callback",
        scope: "openid", provider: .apple(teamID: "TEAM456789")))
    return party
  }

  /// Checks the client secret as Apple does.
  private static func check(_ request: WebRequest, _ key: ClientKey) throws {
    let form = try #require(ScriptedTransport.form(of: request))
    #expect(form["client_id"] == "client" && form["client_assertion"] == nil)
    #expect(request.headers["Authorization"] == nil)
    let text = try #require(form["client_secret"])
    let signed = try CompactJWS(text)
    #expect(signed.algorithmName == "ES256" && signed.keyID == "KEY4567890")
    let claims = try MadeKeys.claims(of: text, by: key)
    #expect(claims["iss"] == "TEAM456789" && claims["sub"] == "client")
    #expect(claims["aud"] == "https://appleid.apple.com")
    let issued = try #require(claims["iat"]?.integer)
    let expiry = try #require(claims["exp"]?.integer)
    #expect(expiry > issued && expiry - issued <= longest)
  }

  private static func key() throws -> ClientKey {
    try ClientKey(pem: ClientKey(generating: .es256).pem(), keyID: "KEY4567890")
  }

  @Test func `the client signs a new client secret for each request, from sign-in to revocation`()
    async throws
  {
    let party = try party(try Self.key())
    let (first, second) = try await party.signInAndRefresh(after: 3_600)
    #expect(first.idToken?.email == "a@privaterelay.appleid.com")
    #expect(second.accessToken == "T2" && second.refreshToken == "R1")
    try await party.fixture.oauth.revoke()
    #expect(party.requests(to: "appleid.apple.com/auth/revoke").count == 2)
    let secrets = party.fixture.http.forms.compactMap { $0["client_secret"] }
    #expect(secrets.count == 4 && Set(secrets).count == 4, "none is sent twice")
  }

  @Test func `a secret that the app has signed itself is sent as it is`() async throws {
    let party = try party(try Self.key())
    party.fixture.http.answer(ScriptedTransport.token())
    party.fixture.oauth.register(
      try ClientConfiguration(
        clientID: "client", clientSecret: "eyJ.own.text",
        redirectURI: "https://app.example/callback",
        provider: .apple(teamID: "TEAM456789")))
    try await party.fixture.oauth.signIn()
    #expect(party.fixture.http.forms.last?["client_secret"] == "eyJ.own.text")
  }

  @Test func `the error user_cancelled_authorize is reported as denied access`() async throws {
    let party = try party(try Self.key())
    party.fixture.oauth.environment.userAgent = CustomUserAgent { url, signIn in
      let page = try AuthorizationURL(url)
      signIn.handleRedirect(try page.redirect("error=user_cancelled_authorize"))
    }
    let error = await failure(.accessDenied) { try await party.fixture.oauth.signIn() }
    #expect(error?.response?.error.rawValue == "user_cancelled_authorize")
  }

  @Test func `a configuration for Apple without a team ID is refused`() throws {
    failure(.invalidConfiguration) {
      try ClientConfiguration(
        clientID: "client", redirectURI: "https://app.example/callback",
        provider: .apple(teamID: ""))
    }
  }

  @Test func `client authentication with a signed secret requires a key`() throws {
    failure(.invalidConfiguration) {
      try ClientConfiguration(
        clientID: "client", redirectURI: "https://app.example/callback",
        provider: .issuer("https://id.example"), clientAuthentication: .signedSecret)
    }
  }
}
