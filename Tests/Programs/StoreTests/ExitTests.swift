import Foundation
import LoopbackSupport
import ProgramSupport
import SequencingOAuth
import TestSupport
import Testing

/// OpenSSL at the end of a process, while other threads still run.
@Suite(.timeLimit(.minutes(2))) struct ExitTests {
  // FIPS 180-2, appendix B.1.
  private static let digest = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="

  /// What uses OpenSSL first in the process: a new store, an existing store, or libcurl.
  enum FirstUse: CaseIterable {
    case newStore
    case oldStore
    case request
  }

  @Test(arguments: FirstUse.allCases)
  func `OpenSSL can be used until the process ends`(firstUse: FirstUse) async throws {
    let folder = try TemporaryFolder()
    let closed = try ClosedPort()
    let server = "http://127.0.0.1:\(closed.number)"
    switch firstUse {
    case .newStore: break
    case .oldStore:
      let earlier = try await StoreProbe.run(.encrypted, in: folder, ["prepare"])
      try #require(earlier.status == 0, "\(earlier.errors)")
    case .request: try await StoreKind.file.open(folder).save(Self.expired(server))
    }
    let isRequest = firstUse == .request
    let result = try await StoreProbe.run(
      isRequest ? .file : .encrypted, in: folder,
      ["until-exit"] + (isRequest ? ["token", server] : ["prepare"]))
    #expect(result.code == (isRequest ? .connectionFailed : nil), "\(result.errors)")
    // After a crash at the exit, the status would be that of a signal.
    #expect(result.status == (isRequest ? 1 : 0), "\(result.errors)")
    let done = isRequest ? "" : "prepared\n"
    #expect(result.output == done + "at the exit: \(Self.digest)\n")
  }

  /// Returns an account whose token must be refreshed.
  private static func expired(_ issuer: String) -> AccountRecord {
    AccountRecord(
      id: "a", clientID: "sandbox-app", issuer: issuer,
      token: SQToken(
        accessToken: "a", expirationDate: .distantPast, refreshToken: "r", issueDate: .distantPast))
  }
}
