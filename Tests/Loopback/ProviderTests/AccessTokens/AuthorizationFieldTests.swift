import OAuthSandbox
import SequencingOAuth
import SequencingOAuthBackend
import Testing

@testable import TestSupport

/// The `Authorization` field of a request to a resource server (RFC 6750, sections 2.1 and 3.1).
@Suite(.timeLimit(.minutes(1))) struct AuthorizationFieldTests {
  /// The two ways to check a token, called in the same way.
  enum Checker: CaseIterable { case introspection, signedToken }

  private typealias Check =
    @Sendable ([String]) async throws(SQOAuthError) -> AccessTokenClaims

  private func check(_ checker: Checker, at server: ResourceServerFixture) throws -> Check {
    switch checker {
    case .introspection: try server.introspector().validate(authorization:)
    case .signedToken: try server.validator().validate(authorization:)
    }
  }

  @Test(arguments: Checker.allCases, ["Bearer ", "bearer ", "BEARER   "])
  func `a valid Bearer token in a single Authorization field is accepted`(
    checker: Checker, scheme: String
  ) async throws {
    let server = try await ResourceServerFixture()
    let claims = try await check(checker, at: server)([scheme + server.token()])
    #expect(claims.subject == SandboxUser.alice.subject)
  }

  @Test(
    arguments: Checker.allCases,
    [
      ([], .accessTokenMissing), ([""], .accessTokenMissing), (["Basic abc"], .accessTokenMissing),
      (["abc"], .accessTokenMissing), (["DPoP abc"], .accessTokenMissing),
      (["Bearer"], .authorizationMalformed), (["Bearer "], .authorizationMalformed),
      (["Bearer a b"], .authorizationMalformed), (["Bearer a\tb"], .authorizationMalformed),
      (["Bearer \u{E4}"], .authorizationMalformed),
      (["Bearer a, Bearer b"], .authorizationMalformed),
      (["Bearer a", "Bearer a"], .authorizationMalformed),
      (["Basic abc", "Bearer a"], .authorizationMalformed),
    ] as [([String], SQOAuthError.Code)])
  func `a request without exactly one well-formed Bearer token is refused without a network call`(
    checker: Checker, fields: ([String], SQOAuthError.Code)
  ) async throws {
    let server = try await ResourceServerFixture()
    let check = try check(checker, at: server)
    let error = await failure(fields.1) { try await check(fields.0) }
    #expect(error?.message.contains("abc") == false)
    #expect(server.sandbox.requests.isEmpty)
  }

  @Test(arguments: Checker.allCases)
  func `an unknown token or a token for another audience is refused with status 401`(
    checker: Checker
  ) async throws {
    let server = try await ResourceServerFixture()
    let check = try check(checker, at: server)
    let foreign = server.token(audiences: ["https://other.example"])
    for token in ["made-up", foreign] {
      let error = await failure(.accessTokenInvalid) { try await check(["Bearer \(token)"]) }
      #expect(AccessRefusal(error).status == 401)
    }
  }
}
