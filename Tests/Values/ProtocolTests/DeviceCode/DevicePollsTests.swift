import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// How the pause between polls changes (RFC 8628, section 3.5).
@Suite struct DevicePollsTests {
  private static func answer(
    _ code: String, status: Int = 400, retryAfter: Duration? = nil
  ) -> SQOAuthError {
    SQOAuthError(
      .init(rawValue: code), "", response: ErrorResponse(error: code), status: status,
      retryAfter: retryAfter)
  }

  @Test func `each slow_down adds five seconds to the pause`() {
    var polls = DevicePolls(interval: .seconds(5))
    let pauses = ["slow_down", "authorization_pending", "slow_down", "authorization_pending"]
      .map { polls.pause(after: Self.answer($0)) }
    #expect(pauses == [.seconds(10), .seconds(10), .seconds(15), .seconds(15)])
  }

  @Test func `failures double the pause up to a minute, and an answer resets it`() {
    var polls = DevicePolls(interval: .seconds(5))
    let failure = SQOAuthError(.connectionFailed, "")
    let pauses = (0..<5).map { _ in polls.pause(after: failure) }
    #expect(pauses == [10, 20, 40, 60, 60].map { .seconds($0) })
    #expect(polls.pause(after: Self.answer("authorization_pending")) == .seconds(5))
    #expect(polls.pause(after: failure) == .seconds(10))
  }

  @Test(arguments: [
    SQOAuthError.Code.connectionFailed, .tlsFailed, .requestTimedOut, .serverError,
    .temporarilyUnavailable, .clientKeyFailed,
  ])
  func `a temporary failure does not end the sign-in`(code: SQOAuthError.Code) {
    var polls = DevicePolls(interval: .seconds(5))
    #expect(polls.pause(after: SQOAuthError(code, "")) == .seconds(10))
  }

  @Test(
    arguments: [407, 408, 421, 425, 429, 500, 502, 503, 504, 599],
    ["too_many_requests", "invalid_grant", "invalid_client", "slow_down_please", "cancelled"])
  func `a temporary status with an error code outside RFC 8628 does not end the sign-in`(
    status: Int, code: String
  ) {
    var polls = DevicePolls(interval: .seconds(5))
    #expect(polls.pause(after: Self.answer(code, status: status)) == .seconds(10))
    let asked = Self.answer(code, status: status, retryAfter: .seconds(70))
    #expect(polls.pause(after: asked) == .seconds(70))
  }

  @Test(arguments: [429, 500, 503])
  func `each error code of RFC 8628 keeps its effect with status 429, 500 or 503`(status: Int) {
    var polls = DevicePolls(interval: .seconds(5))
    #expect(polls.pause(after: Self.answer("slow_down", status: status)) == .seconds(10))
    #expect(
      polls.pause(after: Self.answer("authorization_pending", status: status)) == .seconds(10))
    #expect(polls.pause(after: Self.answer("access_denied", status: status)) == nil)
    #expect(polls.pause(after: Self.answer("authorization_declined", status: status)) == nil)
    #expect(polls.pause(after: Self.answer("expired_token", status: status)) == nil)
  }

  @Test func `a failure does not shorten a pause of more than a minute`() {
    var polls = DevicePolls(interval: .seconds(90))
    #expect(polls.pause(after: SQOAuthError(.requestTimedOut, "")) == .seconds(90))
  }

  @Test(arguments: ["authorization_pending", "slow_down", "temporarily_unavailable"])
  func `a longer pause that the server asks for is used`(code: String) {
    var polls = DevicePolls(interval: .seconds(5))
    #expect(polls.pause(after: Self.answer(code, retryAfter: .seconds(70))) == .seconds(70))
    #expect(polls.pause(after: Self.answer(code, retryAfter: .seconds(1))) ?? .zero > .seconds(1))
  }

  // MARK: The end of the code's life

  /// The interval is 5 s, so a further request fits in after a pause if 5 s are left then.
  @Test(
    arguments: [
      (5, 20, 5), (5, 10, 5), (5, 9, 9), (5, 5, 5), (5, 4, nil), (5, 0, nil), (5, -1, nil),
      (40, 50, 40), (40, 44, 44), (40, 7, 7),
    ] as [(Int, Int, Int?)])
  func `the last request comes at the end of the rest, and none sooner than the interval`(
    pause: Int, rest: Int, expected: Int?
  ) {
    var polls = DevicePolls(interval: .seconds(5))
    _ = polls.pause(after: Self.answer("authorization_pending"))
    #expect(
      polls.pause(.seconds(pause), within: .seconds(rest)) == expected.map { .seconds($0) })
  }

  @Test func `the first request comes at the end of the rest if the interval is longer`() {
    let polls = DevicePolls(interval: .seconds(90))
    #expect(polls.pause(.seconds(90), within: .seconds(58)) == .seconds(58))
    #expect(polls.pause(.seconds(90), within: .seconds(-1)) == nil)
  }

  @Test func `no request is sent before the time that the server asks for`() {
    var polls = DevicePolls(interval: .seconds(5))
    let busy = Self.answer("temporarily_unavailable", status: 503, retryAfter: .seconds(70))
    #expect(polls.pause(after: busy) == .seconds(70))
    #expect(polls.pause(.seconds(70), within: .seconds(69)) == nil)
    #expect(polls.pause(.seconds(70), within: .seconds(70)) == .seconds(70))
  }

  // MARK: The end of the sign-in

  @Test(
    arguments: [
      ([], true), (["authorization_pending"], true), (["temporarily_unavailable"], false),
      (["temporarily_unavailable", "slow_down"], true),
      (["authorization_pending", "temporarily_unavailable"], false),
    ] as [([String], Bool)])
  func `an expired code is the user's cancellation only if the server answered until the end`(
    answers: [String], isCancellation: Bool
  ) {
    var polls = DevicePolls(interval: .seconds(5))
    for code in answers { _ = polls.pause(after: Self.answer(code, status: 503)) }
    let expired = [SQOAuthError(.expiredToken, ""), Self.answer("expired_token")]
    #expect(expired.allSatisfy { polls.ending($0).isCancellation == isCancellation })
    let denials = ["access_denied", "authorization_declined"].map { polls.ending(Self.answer($0)) }
    #expect(denials.allSatisfy { $0.code == .accessDenied && $0.isCancellation })
    #expect(!polls.ending(Self.answer("invalid_grant")).isCancellation)
  }

  @Test(arguments: [
    "access_denied", "expired_token", "invalid_grant", "invalid_client", "unsupported_grant_type",
    // The SDK's own codes have no special meaning in a server's response.
    "connection_failed", "request_timed_out", "tls_failed", "client_key_failed",
  ])
  func `a protocol error ends the sign-in`(code: String) {
    var polls = DevicePolls(interval: .seconds(5))
    #expect(polls.pause(after: Self.answer(code)) == nil)
  }

  @Test(arguments: [
    SQOAuthError.Code.cancelled, .invalidResponse, .redirectRefused, .storeFailed,
    // This code causes a pause only in an error response of the server.
    .init(rawValue: "slow_down"),
  ])
  func `a permanent error of the SDK ends the sign-in`(code: SQOAuthError.Code) {
    var polls = DevicePolls(interval: .seconds(5))
    #expect(polls.pause(after: SQOAuthError(code, "")) == nil)
  }
}
