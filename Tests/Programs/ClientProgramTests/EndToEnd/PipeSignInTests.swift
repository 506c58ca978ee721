import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// How pipes get access at a server: a sign-in, one refresh, one repeated request.
@Suite("End to end: a pipe's access", .timeLimit(.minutes(1))) struct PipeSignInTests {
  @Test func `the first read signs the user in and is sent once`() async throws {
    let drive = try await DriveFixture(isSignedIn: false)
    _ = try await drive.files.read()
    #expect(
      drive.sandbox.requests.map(\.description) == [
        "GET /authorize", "POST /login", "GET /consent", "POST /consent", "POST /token",
        "GET /drive/v2/files",
      ])
    #expect(drive.tokensUsed == [drive.module.currentToken?.accessToken])
  }

  @Test func `an expired token is refreshed before the request`() async throws {
    let drive = try await DriveFixture()
    let old = drive.module.currentToken
    drive.fixture.clock.advance(by: 3600)
    _ = try await drive.files.read()
    #expect(drive.asked == ["POST /token refresh_token", "GET /drive/v2/files"])
    #expect(drive.sandbox.requests[0].form("refresh_token") == old?.refreshToken)
    let new = try #require(drive.module.currentToken)
    #expect(drive.tokensUsed == [new.accessToken] && new.accessToken != old?.accessToken)
  }

  @Test func `a rejected token causes one refresh and one repeated request`() async throws {
    let drive = try await DriveFixture()
    let old = try #require(drive.module.currentToken)
    drive.revokeAccessToken()
    let list = try await drive.files.read(DriveFixture.List.self)
    #expect(list.items.count == 5)
    #expect(
      drive.asked == [
        "GET /drive/v2/files", "POST /token refresh_token", "GET /drive/v2/files",
      ])
    #expect(drive.tokensUsed == [old.accessToken, drive.module.currentToken?.accessToken])
  }

  @Test func `a token that is rejected again after the refresh causes an error`() async throws {
    let drive = try await DriveFixture()
    drive.sandbox.misbehave(at: .driveFiles, .bearerError("invalid_token"), times: 2)
    let error = await pipeFailure { () async throws(PipeError) in
      try await drive.files.save(DriveFixture.File(title: "t"))
    }
    #expect(error?.refusal?.status == 401 && error?.refusal?.challenge?.error == .invalidToken)
    #expect(
      drive.asked == [
        "POST /drive/v2/files", "POST /token refresh_token", "POST /drive/v2/files",
      ])
    #expect(drive.module.isAuthorized)
    // The next call works again.
    _ = try await drive.files.read()
  }

  @Test func `a missing scope is named in the error and causes no refresh`() async throws {
    let drive = try await DriveFixture(scope: "demo")
    let error = await pipeFailure { () async throws(PipeError) in
      try await drive.files.save(DriveFixture.File(title: "t"))
    }
    #expect(error?.refusal?.status == 403)
    #expect(error?.refusal?.challenge?.error == .insufficientScope)
    #expect(error?.refusal?.challenge?.scope == "files")
    #expect(error?.refusal?.body.isEmpty == false)
    #expect(drive.asked == ["POST /drive/v2/files"])
  }

  @Test(arguments: [SandboxVisitor.Decision.deny, .cancel])
  func `a denial by the user is not reported as a rejection by the API`(
    decision: SandboxVisitor.Decision
  ) async throws {
    let drive = try await DriveFixture(isSignedIn: false, decision: decision)
    let error = await pipeFailure { () async throws(PipeError) in try await drive.files.read() }
    guard case .noAccess(let cause)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(cause.code == .accessDenied)
    #expect(drive.sandbox.requests(to: .driveFiles).isEmpty)
  }

  @Test func `a call fails if the server has ended the session, and the next call signs in`()
    async throws
  {
    let drive = try await DriveFixture()
    drive.sandbox.revokeEverything()
    let error = await pipeFailure { () async throws(PipeError) in try await drive.files.read() }
    guard case .noAccess(let cause)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(cause.code == .invalidGrant)
    #expect(drive.asked == ["GET /drive/v2/files", "POST /token refresh_token"])
    _ = try await drive.files.read()
    #expect(
      drive.asked.suffix(2) == ["POST /token authorization_code", "GET /drive/v2/files"])
  }

  /// A token that has expired, is rejected, or both causes one refresh for all callers.
  @Test(.ownThreads, arguments: [(true, false), (false, true), (true, true)])
  func `two hundred operations share one refresh`(
    isExpiredHere: Bool, isRefusedThere: Bool
  ) async {
    // A separate process: libcurl keeps 128 connections and would close those of other tests.
    await #expect(processExitsWith: .success) {
      [isExpiredHere = isExpiredHere as Bool, isRefusedThere = isRefusedThere as Bool] in
      let drive = try await DriveFixture()
      let id = drive.sandbox.addFile("f", content: pattern(10)).id
      if isExpiredHere { drive.fixture.clock.advance(by: 3600) }
      if isRefusedThere { drive.revokeAccessToken() }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<200 {
          group.addTask {
            switch index % 4 {
            case 0: _ = try await drive.files.read()
            case 1: _ = try await drive.files.content(id: id, parameters: ["alt": "media"])
            case 2: try await drive.files.save(DriveFixture.File(title: "\(index)"))
            default:
              try await drive.uploads.upload([.data("file", pattern(index), filename: "\(index)")])
            }
          }
        }
        try await group.waitForAll()
      }
      try #require(drive.sandbox.requests(to: .token).count == 1)
      try #require(drive.sandbox.refreshTokenReuses == 0)
      // 5 documents, the file `f`, and each saved or uploaded file exactly once.
      try #require(drive.sandbox.files().count == 6 + 100)
      try #require(Set(drive.sandbox.files().map(\.title)).count == 6 + 100)
    }
  }
}
