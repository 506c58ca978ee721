import Foundation
import SQBasics
import Testing

@testable import SQCrypto
@testable import SequencingOAuth

/// Signed responses that the SDK cannot use, and the times in usable ones.
@Suite struct SignedResponseTests {
  private static let redirectURI = "com.example.app:/cb"

  /// Returns a text in the form of a signed one, with a made-up signature.
  private static func text(
    _ header: String = #"{"alg":"ES256"}"#, state: String = Redirect.state, more: String = ""
  ) -> String {
    let claims = #"{"iss":"https://id.example","code":"c","state":"\#(state)"\#(more)}"#
    return [header, claims, "signature"].map { Base64URL.encode(Data($0.utf8)) }
      .joined(separator: ".")
  }

  private static func judge(
    _ query: String, asksForSigned: Bool = true
  ) -> AuthorizationResponse.Verdict {
    var expected = AuthorizationResponse.Expectation(
      redirectURI: redirectURI, state: Redirect.state, issuer: "https://id.example",
      requiresIssuer: false)
    if asksForSigned { expected.readsSigned = { SignedAuthorizationResponse.unverified($0) } }
    return AuthorizationResponse.judge("\(redirectURI)?\(query)", against: expected)
  }

  /// Returns the error if the response is unreadable and the sign-in goes on; `nil` otherwise.
  private static func reason(for query: String, asksForSigned: Bool = true) -> SQOAuthError? {
    guard case .unreadable(let error) = judge(query, asksForSigned: asksForSigned) else {
      return nil
    }
    return error
  }

  private static let unusableHeaders = [
    (#"{"alg":"ES256","crit":["x"],"x":1}"#, "crit"), (#"{"alg":"ES256","typ":"dpop+jwt"}"#, "typ"),
    (#"{"alg":"ES256","b64":false}"#, "crit"), (#"{"typ":"JWT"}"#, "algorithm"),
  ]

  @Test(arguments: unusableHeaders)
  func `a response with the right state and an unusable JWT header ends the sign-in`(
    header: String, word: String
  ) throws {
    let verdict = Self.judge("response=\(Self.text(header))")
    let error = try #require(verdict.error)
    #expect(error.code == .invalidAuthorizationResponse && error.message.contains(word))
  }

  private static let unreadable: [(query: String, word: String)] =
    unusableHeaders.map { ("response=\(text($0.0, state: "wrong"))", $0.1) } + [
      ("response=eyJhbGciOiJFQ0RILUVTIiwiZW5jIjoiQTEyOEdDTSJ9..a.b.c", "encrypted"),
      ("response=", "segments"), ("response=a.b", "segments"),
      ("response=\(text(more: #","state":"x""#))", "same name"),
      ("response=\(text())&response=\(text())", "more than once"),
    ]

  @Test(arguments: unreadable.indices)
  func `a signed response that is unreadable or has a wrong state does not end the sign-in`(
    index: Int
  ) {
    let row = Self.unreadable[index]
    let error = Self.reason(for: row.query)
    #expect(error?.code == .invalidAuthorizationResponse, "\(row.query)")
    #expect(error?.message.contains(row.word) == true)
  }

  @Test func `the error for a signed response that was not requested names the setting for it`() {
    let error = Self.reason(for: "response=\(Self.text())", asksForSigned: false)
    #expect(error?.message.contains("authorizationResponseAlgorithm") == true)
  }

  @Test func `a readable signed response with a wrong state does not answer this sign-in`() {
    guard case .wrongState(nil) = Self.judge("response=\(Self.text(state: "x"))") else {
      Issue.record("the response does not count as one with a wrong state")
      return
    }
  }

  @Test(arguments: ["access_token", "id_token", "refresh_token", "response"])
  func `a signed response that contains a token or another response is refused`(name: String) {
    let verdict = Self.judge("response=\(Self.text(more: #","\#(name)":"x""#))")
    #expect(verdict.error?.code == .invalidAuthorizationResponse)
    #expect(verdict.error?.message.contains(name) == true)
  }

  @Test func `the error of a timed-out sign-in mentions an unusable signed response`() throws {
    var rejected = RejectedRedirects()
    rejected.rejectedState(saying: nil)
    rejected.rejectedSigned(because: try #require(Self.reason(for: "response=a")))
    let last = rejected.error(
      after: .seconds(6), receiver: .sdk, turnedAway: 0, refused: nil)
    #expect(last.code == .invalidAuthorizationResponse && !last.isCancellation)
    #expect(last.message.contains("a signed response came") && last.message.contains("segments"))
  }

  // MARK: Times

  private func check(
    _ claims: [String: JSONValue], clockLead: Duration? = nil
  ) -> SQOAuthError? {
    let base: [String: JSONValue] = ["iss": "i", "aud": "c", "exp": .integer(1_750_000_120)]
    do throws(SQOAuthError) {
      try SignedAuthorizationResponse.check(
        base.merging(claims) { $1 }, issuer: "i", clientID: "c",
        at: Date(timeIntervalSince1970: 1_750_000_000), tolerance: .seconds(60),
        clockLead: clockLead)
      return nil
    } catch {
      return error
    }
  }

  @Test func `a response is accepted up to the clock tolerance before its nbf`() {
    #expect(check(["nbf": .integer(1_750_000_060)]) == nil)
    let error = check(["nbf": .integer(1_750_000_061)])
    #expect(error?.code == .invalidAuthorizationResponse)
    #expect(error?.message.contains("not valid yet") == true)
  }

  @Test(arguments: ["exp", "nbf"])
  func `the error about exp or nbf contains the known clock difference`(name: String) {
    let time: JSONValue = .integer(name == "exp" ? 1_749_990_000 : 1_750_010_000)
    let known = check([name: time], clockLead: .seconds(3600))
    #expect(known?.message.contains("3600 s ahead of the server's") == true)
    #expect(check([name: time])?.message.contains("compare this machine's clock") == true)
  }
}
