import Foundation
import OAuthSandbox
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth

/// Tests of ``FAPI2Audit``, which must find each fault in a client's requests.
@Suite(.timeLimit(.minutes(1))) struct FAPI2AuditTests {
  /// Signs in, and sends each kind of request once more, with a fault in one of them.
  private func findings(
    _ fault: FAPI2Faults.Fault?, _ profile: SecurityProfile = .fapi2
  ) async throws -> [String] {
    let party = try await FAPI2Party(.init(kind: .openID, profile: profile))
    try await party.goesOn()
    let endpoints: [SandboxEndpoint] = [.pushedAuthorization, .authorization, .token, .me]
    let replays = try endpoints.map { endpoint in
      var replay = try Replay(
        try #require(party.sandbox.requests(to: endpoint).last), party.sandbox)
      if let fault, fault.at == endpoint { fault.change(&replay) }
      return replay
    }
    party.sandbox.forgetRequests()
    for replay in replays { try await replay.send() }
    return try party.audit.findings
  }

  @Test func `the audit finds no fault in the requests of a conforming client`() async throws {
    #expect(try await findings(nil) == [])
    #expect(try await findings(nil, .fapi2MessageSigning) == [])
  }

  @Test(arguments: FAPI2Faults.signed.indices)
  func `the audit finds every fault of a signed request`(index: Int) async throws {
    let fault = FAPI2Faults.signed[index]
    let found = try await findings(fault, .fapi2MessageSigning)
    #expect(found.contains { $0.hasPrefix("\(fault.what): ") }, "\(fault.what): \(found)")
  }

  @Test(arguments: FAPI2Faults.all.indices)
  func `the audit finds every fault in proofs, client authentication and sign-in requests`(
    index: Int
  ) async throws {
    let fault = FAPI2Faults.all[index]
    let found = try await findings(fault)
    #expect(found.contains { $0.hasPrefix("\(fault.what): ") }, "\(fault.what): \(found)")
  }

  @Test func `the audit reports a jti, assertion, state or code verifier that is sent twice`()
    async throws
  {
    let party = try await FAPI2Party()
    try await party.oauth.signIn()
    let replay = try Replay(
      try #require(party.sandbox.requests(to: .token).last), party.sandbox)
    try await replay.send()
    let found = try party.audit.findings
    #expect(found == ["jti: POST /token", "an assertion was sent twice: POST /token"])
    let pushed = try #require(party.sandbox.requests(to: .pushedAuthorization).last)
    var changed = try Replay(pushed, party.sandbox)
    changed.form["redirect_uri"] = "http://127.0.0.1/"
    try await changed.send()
    #expect(try party.audit.findings.contains("a state was sent twice: POST /par"))
    var other = replay
    other.form["code"] = "another"
    try await other.send()
    #expect(try party.audit.findings.contains("verifier: POST /token"))
  }
}
