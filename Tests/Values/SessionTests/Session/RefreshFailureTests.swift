import Foundation
import SQBasics
import SequencingOAuth
import Testing

@testable import TestSupport

/// Failed refreshes that do not end the session.
@Suite("Failed refreshes", .timeLimit(.minutes(1))) struct RefreshFailureTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: SQOAuthError.Code
    let answer: TokenServer.Answer
    var requiresSignIn = false
  }

  static let rows: [Row] = [
    Row(testDescription: "offline", code: .connectionFailed) { _ in
      throw SQOAuthError(.connectionFailed, "no route")
    },
    Row(testDescription: "a timeout", code: .requestTimedOut) { _ in
      throw SQOAuthError(.requestTimedOut, "60 s")
    },
    Row(testDescription: "a client's own error", code: .connectionFailed) { _ in
      throw CocoaError(.fileNoSuchFile)
    },
    Row(testDescription: "a cancellation inside the HTTP client", code: .cancelled) { _ in
      throw CancellationError()
    },
    json("500", .serverError, "", 500),
    json("502 in HTML", .serverError, "<html>", 502, type: "text/html"),
    json("503", .temporarilyUnavailable, "", 503),
    json("429", .temporarilyUnavailable, "", 429),
    json("408", .temporarilyUnavailable, "", 408),
    json("421", .temporarilyUnavailable, "", 421),
    json("425", .temporarilyUnavailable, "", 425),
    json("407 from a proxy", .connectionFailed, "", 407),
    json("temporarily_unavailable", .temporarilyUnavailable, error("temporarily_unavailable"), 400),
    json("server_error", .serverError, error("server_error"), 400),
    json("HTML with 200", .invalidResponse, "<html>", 200, type: "text/html"),
    json("no token", .invalidResponse, "{}", 200),
    json("broken JSON", .invalidResponse, #"{"access_token":"#, 200),
    json(
      "a token of another type", .invalidResponse, #"{"access_token":"x","token_type":"mac"}"#, 200),
    json("a redirect", .redirectRefused, "", 302),
    json("404", .invalidResponse, "", 404),
    json("invalid_client", .invalidClient, error("invalid_client"), 401),
    // Only a new sign-in helps after these rejections, but the server may still change its answer.
    json("invalid_request", .invalidRequest, error("invalid_request"), 400, requiresSignIn: true),
    json("access_denied", .accessDenied, error("access_denied"), 403, requiresSignIn: true),
    json("invalid_token", .invalidToken, error("invalid_token"), 401, requiresSignIn: true),
    json(
      "unauthorized_client", .unauthorizedClient, error("unauthorized_client"), 403,
      requiresSignIn: true),
    json(
      "consent_required with 200", "consent_required", error("consent_required"), 200,
      requiresSignIn: true),
    json("login_required", "login_required", error("login_required"), 400, requiresSignIn: true),
    json(
      "interaction_required", "interaction_required", error("interaction_required"), 401,
      requiresSignIn: true),
    // With these HTTP statuses, no error code demands a new sign-in.
    json("invalid_request with 503", .invalidRequest, error("invalid_request"), 503),
    json("access_denied with 429", .accessDenied, error("access_denied"), 429),
    json("unauthorized_client with 503", .unauthorizedClient, error("unauthorized_client"), 503),
    json("invalid_grant with 429", .invalidGrant, error("invalid_grant"), 429),
    json("invalid_grant with 408", .invalidGrant, error("invalid_grant"), 408),
    json("invalid_grant with 421", .invalidGrant, error("invalid_grant"), 421),
    json("invalid_grant with 425", .invalidGrant, error("invalid_grant"), 425),
    json("invalid_grant with 500", .invalidGrant, error("invalid_grant"), 500),
    json("invalid_grant with 503", .invalidGrant, error("invalid_grant"), 503),
    json("too_many_requests with 429", "too_many_requests", error("too_many_requests"), 429),
    // Errors that a new sign-in does not change.
    json("invalid_scope", .invalidScope, error("invalid_scope"), 400),
    json("invalid_target", "invalid_target", error("invalid_target"), 400),
    json(
      "unsupported_grant_type", .unsupportedGrantType, error("unsupported_grant_type"), 400),
    json("use_dpop_nonce", "use_dpop_nonce", error("use_dpop_nonce"), 400),
    json("an unknown code", "own_code", error("own_code"), 400),
    // A server that uses the SDK's own codes.
    json("not_authorized", .requestRefused, error("not_authorized"), 400),
    json("cancelled", .requestRefused, error("cancelled"), 400),
    json("request_refused", .requestRefused, error("request_refused"), 400),
    json("id_token_subject", .requestRefused, error("id_token_subject"), 400),
    json("id_token_issuer", .requestRefused, error("id_token_issuer"), 400),
    json("account_in_use", .requestRefused, error("account_in_use"), 400),
    json("request_timed_out", .requestRefused, error("request_timed_out"), 400),
    Row(
      testDescription: "400 without an error", code: .requestRefused,
      answer: ScriptedTransport.json("", status: 400), requiresSignIn: true),
  ]

  static func error(_ code: String) -> String { #"{"error":"\#(code)"}"# }

  static func json(
    _ name: String, _ code: SQOAuthError.Code, _ body: String, _ status: Int,
    type: String = "application/json", requiresSignIn: Bool = false
  ) -> Row {
    let answer: TokenServer.Answer = { _ in
      WebResponse(status: status, headers: ["Content-Type": type], body: Data(body.utf8))
    }
    return Row(
      testDescription: name, code: code, answer: answer, requiresSignIn: requiresSignIn)
  }

  static func json(
    _ name: String, _ code: String, _ body: String, _ status: Int, requiresSignIn: Bool = false
  ) -> Row {
    json(
      name, SQOAuthError.Code(rawValue: code), body, status, requiresSignIn: requiresSignIn)
  }

  @Test(arguments: rows) func `a failed refresh keeps the session, and a later one works`(
    row: Row
  ) async throws {
    let fixture = try await SessionFixture().restored()
    fixture.clock.advance(by: 3600)
    fixture.server.next(row.answer)
    let error = await failure(row.code) { try await fixture.module.token() }
    #expect(error?.requiresSignIn == row.requiresSignIn)
    #expect(error?.response == nil || error?.isCancellation == false, "no user was asked")
    #expect(fixture.memory == "T1 R1")
    #expect(await fixture.store.content() == "T1 R1")
    #expect(fixture.store.saves.isEmpty && !fixture.store.calls.contains("erase"))
    #expect(await fixture.observer.words(1) == ["failed \(row.code)"])
    #expect(!everyText(of: error as Any).contains("R1"))
    fixture.clock.advance(by: 1)
    #expect(try await fixture.module.token().accessToken == "T2")
    #expect(await fixture.store.content() == "T2 R2")
    #expect(fixture.refreshes == ["R1", "R1"])
  }

  /// Makes three calls each second for 250 seconds, and notes the seconds in which the server gets
  /// a request.
  @Test func `a failing server gets one request per back-off`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.clock.advance(by: 3600)
    fixture.server.always(ScriptedTransport.json("", status: 500))
    var seen: [Int] = []
    for second in 0..<250 {
      let before = fixture.refreshes.count
      for _ in 0..<3 { await failure(.serverError) { try await fixture.module.token() } }
      if fixture.refreshes.count > before { seen.append(second) }
      #expect(fixture.refreshes.count <= before + 1)
      fixture.clock.advance(by: 1)
    }
    #expect(seen == [0, 1, 3, 7, 15, 31, 63, 123, 183, 243])
  }

  @Test(
    "a valid Retry-After lengthens the back-off to at most an hour",
    arguments: [
      (429, "120", 120.0), (503, "120", 120), (500, "7", 7), (503, "0", 1), (503, "99999999", 3600),
      (503, "soon", 1), (429, "Sun, 15 Jun 2025 16:07:40 GMT", 60),
    ])
  func retryAfter(status: Int, text: String, window: Double) async throws {
    let fixture = try await SessionFixture().restored()
    fixture.clock.advance(by: 3600)
    fixture.server.next { _ in
      WebResponse(status: status, headers: ["Retry-After": text])
    }
    await failure { try await fixture.module.token() }
    fixture.clock.advance(by: window - 0.1)
    await failure { try await fixture.module.token() }
    #expect(fixture.refreshes.count == 1)
    fixture.clock.advance(by: 0.1)
    #expect(try await fixture.module.token().accessToken == "T2")
  }

  @Test func `a clock that moves back does not lengthen the back-off after a failure`() async throws
  {
    let fixture = try await SessionFixture().restored()
    fixture.clock.advance(by: 3600)
    fixture.server.next { _ in
      WebResponse(status: 503, headers: ["Retry-After": "3600"])
    }
    await failure(.temporarilyUnavailable) { try await fixture.module.token() }
    fixture.clock.advance(by: -86_400)
    #expect(try await fixture.module.token().accessToken == "T2")
  }

  /// Callers refresh the token from 30 s before its end, and can use the old one until its end.
  @Test func `if an early refresh fails, the old token is used until it expires`() async throws {
    let fixture = try await SessionFixture().restored()
    fixture.clock.advance(by: 3569)
    #expect(try await fixture.module.token().accessToken == "T1")
    #expect(fixture.refreshes.isEmpty)
    fixture.clock.advance(by: 1)
    fixture.server.always(ScriptedTransport.json("", status: 500))
    #expect(fixture.module.validToken == nil && fixture.module.isAuthorized)
    #expect(try await fixture.module.token().accessToken == "T1", "the request failed")
    #expect(try await fixture.module.token().accessToken == "T1", "the failure is still in force")
    #expect(fixture.refreshes.count == 1)
    await failure(.serverError) { try await fixture.module.refresh() }
    fixture.clock.advance(by: 30)
    await failure(.serverError) { try await fixture.module.token() }
    #expect(fixture.refreshes.count == 2 && !fixture.module.isAuthorized)
  }

  @Test(arguments: [(10.0, 9.0), (100, 90), (300, 270), (600, 570), (86_400, 86_370)])
  func `a caller's refresh begins a tenth of the lifetime, at most 30 s, before the token expires`(
    life: Double, until: Double
  ) async throws {
    let fixture = try await SessionFixture(lifetime: Int(life)).restored()
    fixture.clock.advance(by: until - 0.01)
    #expect(fixture.module.validToken?.accessToken == "T1")
    fixture.clock.advance(by: 0.01)
    #expect(fixture.module.validToken == nil)
    #expect(try await fixture.module.token().accessToken == "T2")
  }
}
