import Foundation
import SQBasics
import Testing

@testable import SQCrypto
@testable import SequencingOAuth
@testable import TestSupport

/// A refresh's ID token whose signature the client cannot verify.
@Suite struct RefreshedIDTokenTests {
  private static let claims: [String: JSONValue] = [
    "iss": "https://id.example", "sub": "24400320", "aud": "app", "exp": 1_900_000_300,
    "iat": 1_899_999_990, "nonce": "n-0S6_WzA2Mj",
  ]

  private func validated(
    _ compactForm: String, outage: SQOAuthError? = nil
  ) async throws -> Result<IDToken, SQOAuthError> {
    var metadata = try ProviderMetadata(
      members: [
        "issuer": "https://id.example", "token_endpoint": "https://id.example/token",
        "jwks_uri": "https://id.example/keys",
      ], issuer: "https://id.example")
    metadata.outage = outage.map(MetadataOutage.init)
    var environment = ClientEnvironment()
    environment.transport = ScriptedTransport { _ in
      throw SQOAuthError(.connectionFailed, "no key is needed")
    }
    let configuration = try ClientConfiguration(
      clientID: "app", redirectURI: "http://127.0.0.1/callback",
      provider: .issuer("https://id.example"))
    let validator = try IDTokenValidator(configuration, metadata, environment)
    var expectation = IDTokenExpectation(
      accessToken: "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0", nonce: .ifPresent("n-0S6_WzA2Mj"))
    expectation.previous = IDToken(
      validated: try IDTokenClaims(Self.claims), compactForm: "previous")
    return try await validator.validateRefreshed(compactForm, expectation)
  }

  private func text(
    _ changes: [String: JSONValue?], header: String = #"{"alg":"ES256"}"#
  ) throws -> String {
    var claims = Self.claims
    for (name, value) in changes { claims[name] = value }
    let parts = [Data(header.utf8), try JSONEncoder().encode(claims), Data("signature".utf8)]
    return parts.map { Base64URL.encode($0) }.joined(separator: ".")
  }

  @Test(
    arguments: [
      ("a.b.c.d.e", .idTokenEncrypted), (#"{"alg":"ES256"}"#, .idTokenAlgorithm),
      (#"{"alg":"none"}"#, .idTokenAlgorithm), (#"{"alg":"HS256"}"#, .idTokenAlgorithm),
      (#"{"alg":"RS256","crit":["x"]}"#, .idTokenCritical),
    ] as [(String, SQOAuthError.Code)])
  func `an ID token that cannot be verified is not used, and the reason is returned`(
    header: String, code: SQOAuthError.Code
  ) async throws {
    let token = header.hasPrefix("{") ? try text([:], header: header) : header
    guard case .failure(let flaw) = try await validated(token) else {
      Issue.record("an unverified ID token was used")
      return
    }
    #expect(flaw.code == code)
  }

  /// The list of algorithms that could not be read may have the ID token's.
  @Test(arguments: [("ES256", true), ("HS256", false), ("none", false), ("RS999", false)])
  func `an ID token is not judged by a list of algorithms that an outage kept from the client`(
    algorithm: String, mayBeListed: Bool
  ) async throws {
    let token = try text([:], header: #"{"alg":"\#(algorithm)"}"#)
    let outage = SQOAuthError(.serverError, "no document", status: 500)
    if mayBeListed {
      await failure(.serverError) { try await validated(token, outage: outage) }
    } else {
      #expect(try await validated(token, outage: outage).error?.code == .idTokenAlgorithm)
    }
  }

  @Test(
    arguments: [
      (["iss": "https://other.example"], .idTokenIssuer), (["sub": "another"], .idTokenSubject),
      (["aud": "stranger"], .idTokenAudience), (["azp": "stranger"], .idTokenAuthorizedParty),
      (["nonce": "another"], .idTokenNonce),
    ] as [([String: JSONValue?], SQOAuthError.Code)])
  func `an unverifiable ID token with a wrong issuer, user, client or nonce is rejected`(
    changes: [String: JSONValue?], code: SQOAuthError.Code
  ) async throws {
    await failure(code) { try await validated(text(changes)) }
  }
}
