import FoundationEssentials

@testable import SQBasics
@testable import SequencingOAuth
@testable import SequencingOAuthBackend

extension Fuzzer {
  /// A fuzzer for the claims that a resource server reads from a signed token or an introspection
  /// response.
  static let accessTokenClaims = Fuzzer("access-token-claims") { input in
    guard let members = JSONMessage.members(of: input) else { return }
    for profile in [AccessTokenValidator.Profile.rfc9068, .anyJWT] {
      let rules = AccessTokenRules(
        issuer: issuer, audience: audience, profile: profile,
        dates: AccessTokenDates(now: now, clockTolerance: .seconds(60)))
      if let claims = try attempt({ () throws(SQOAuthError) in try rules.check(members) }) {
        try require(
          claims.issuer?.hasSameBytes(as: issuer) == true, "a token of another issuer is accepted")
        try require(
          claims.audience.contains { $0.hasSameBytes(as: audience) },
          "a token for another audience is accepted")
        try require(
          claims.expirationDate.map { $0 > now - 60 } == true, "an expired token is accepted")
        try require(
          profile == .anyJWT || claims.clientID != nil && claims.subject != nil,
          "a token without client_id or sub is accepted")
      }
    }
    let rules = IntrospectionRules(issuer: issuer, clockTolerance: .seconds(60), now: now)
    let found = try attempt { () throws(SQOAuthError) in try rules.check(members) }
    if let found, let claims = found {
      try require(members["active"] == .bool(true), "a token that is not active is accepted")
      try require(
        claims.issuer.map { $0.hasSameBytes(as: issuer) } ?? true, "another issuer is accepted")
      try require(
        claims.expirationDate.map { $0 > now - 60 } ?? true, "an expired token is accepted")
      try require(claims.description.isHarmless, "it shows as \(claims)")
    }
  }

  private static let issuer = "https://id.example"
  private static let audience = "https://api.example"
  private static let now = Date(timeIntervalSince1970: 1_750_000_000)

  /// Returns the result of a check, or `nil` after an error; the error must be safe to show.
  private static func attempt<Value>(
    _ check: () throws(SQOAuthError) -> Value
  ) throws -> Value? {
    do throws(SQOAuthError) {
      return try check()
    } catch {
      try require(error.description.isHarmless, "the error shows as \(error.description)")
      return nil
    }
  }
}
