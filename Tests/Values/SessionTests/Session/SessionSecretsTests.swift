import Foundation
import SequencingOAuth
import Testing

@testable import TestSupport

/// The parts of a session, printed in every possible way.
@Suite("Secrets of a session", .timeLimit(.minutes(1))) struct SessionSecretsTests {
  static let canary = "c4n4ry"

  func token(_ name: String) -> SQToken {
    SQToken(
      accessToken: "\(Self.canary)-access-\(name)", expirationDate: .now,
      refreshToken: "\(Self.canary)-refresh", additionalFields: ["id_token": .string(Self.canary)])
  }

  @Test func `printed events, end reasons and account records contain no secret`() {
    let error = SQOAuthError(.invalidGrant, "refused")
    let record = AccountRecord(id: "a", clientID: "c", token: token("record"))
    let values: [Any] = [
      SessionEvent.refreshed(token("event")), SessionEvent.takenOver(token("event")),
      SessionEvent.refreshFailed(error),
      SessionEvent.ended(.signedOut), SessionEvent.ended(.refused(error)),
      SessionEnd.refused(error), record, [record], Optional(token("optional")) as Any,
    ]
    for value in values { #expect(!everyText(of: value).contains(Self.canary)) }
  }

  @Test func `a module that is printed during a refresh shows no secret`() async throws {
    let fixture = try SessionFixture()
    fixture.oauth.launchTokenTimerUpdate(with: token("held"))
    fixture.server.gate.close()
    let module = fixture.module
    let caller = begin { try await module.refresh() }
    try await fixture.server.gate.isHolding()
    for value in [module, fixture.oauth, fixture.oauth.result, module.environment] as [Any] {
      #expect(!everyText(of: value).contains(Self.canary))
    }
    fixture.server.gate.open()
    let error = await failure { try await caller.value }
    #expect(!everyText(of: error as Any).contains(Self.canary))
  }

  @Test func `an error prints no secret, even if the server repeats the refresh token`()
    async throws
  {
    let fixture = try SessionFixture()
    let secret = "\(Self.canary)-refresh"
    fixture.server.always(
      ScriptedTransport.json(
        #"{"error":"invalid_grant","error_description":"no token \#(secret) here"}"#, status: 400))
    let recorder = RefreshRecorder.listening(to: fixture.module.events())
    let error = await failure { try await fixture.oauth.refresh(with: token("sent")) }
    #expect(!everyText(of: error as Any).contains(Self.canary))
    _ = await recorder.words(1)
    for event in recorder.events { #expect(!everyText(of: event).contains(Self.canary)) }
  }
}
