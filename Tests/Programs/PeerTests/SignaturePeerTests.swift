import Foundation
import OAuthSandbox
import ProgramSupport
import SQLoopback
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// The sandbox's signatures, verified by PyJWT and Python's cryptography package.
@Suite(
  .timeLimit(.minutes(2)),
  .requires("python3-jwt and python3-cryptography; run Scripts/install test") {
    try await ChildProcess.run(["/usr/bin/python3", "-c", "import jwt, cryptography"]).status == 0
  })
struct SignaturePeerTests {
  private static let secret = String(repeating: "a secret of 64 bytes", count: 4)

  private func start(_ algorithm: SandboxSigningAlgorithm) async throws -> SandboxServer {
    var options = SandboxOptions()
    options.clients[1].secret = Self.secret
    options.clients[1].idTokenAlgorithm = algorithm
    options.clients[1].userInfoAlgorithm = algorithm
    return try await SandboxServer.start(options)
  }

  /// Returns each token's claims as the other implementation sees them, or an object with
  /// `refused`.
  private func judge(
    _ tokens: [String], _ algorithm: SandboxSigningAlgorithm, at sandbox: SandboxServer
  ) async throws -> [SandboxJSON] {
    let keys = try await SandboxPeer(sandbox: sandbox).keys()
    let entries = tokens.map { token -> SandboxJSON in
      ["token": .string(token), "alg": .string(algorithm.rawValue)]
    }
    let question: SandboxJSON = [
      "keys": .array(keys), "secret": .string(Self.secret), "audience": "sandbox-service",
      "tokens": .array(entries),
    ]
    let script = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Peers/verify").path
    let result = try await ChildProcess.run([script], input: .text(question.text))
    try #require(result.status == 0, "\(result.errors)")
    return try result.output.split(separator: "\n").map {
      try #require(SandboxJSON(parsing: String($0)))
    }
  }

  private func issue(_ sandbox: SandboxServer) throws -> (idToken: String, accessToken: String) {
    let tokens = sandbox.issueTokens(to: "sandbox-service", scopes: ["openid"])
    return (try #require(tokens.idToken), tokens.accessToken)
  }

  @Test(arguments: SandboxSigningAlgorithm.allCases)
  func `PyJWT verifies ID tokens, UserInfo responses and logout tokens, even after a key rotation`(
    algorithm: SandboxSigningAlgorithm
  ) async throws {
    let sandbox = try await start(algorithm)
    let first = try issue(sandbox)
    let userInfo = try await SandboxPeer(sandbox: sandbox)
      .api("/userinfo", token: first.accessToken).text
    let logout = try #require(sandbox.logoutToken(client: "sandbox-service"))
    sandbox.rotateSigningKeys()
    let second = try issue(sandbox).idToken
    let claims = try await judge([first.idToken, userInfo, logout, second], algorithm, at: sandbox)
    #expect(claims.map { $0["sub"] } == ["alice", "alice", "alice", "alice"])
    #expect(claims.map { $0["iss"]?.string } == claims.map { _ in sandbox.issuer.absoluteString })
    await sandbox.stop()
  }

  @Test(
    arguments: [
      (.unsigned, "InvalidAlgorithmError"), (.noSignature, "InvalidSignatureError"),
      (.wrongSignature, "InvalidSignatureError"), (.otherAlgorithm, "InvalidAlgorithmError"),
      (.hmacWithPublicKey, "InvalidAlgorithmError"), (.unknownKeyID, "InvalidKeyError"),
      (.unpublishedKey, "InvalidKeyError"), (.embeddedKey, "InvalidKeyError"),
      (.keyAddress, "InvalidKeyError"), (.expired, "ExpiredSignatureError"),
      (.audienceWrong, "InvalidAudienceError"), (.notYetValid, "ImmatureSignatureError"),
      (.malformedBase64, "DecodeError"), (.twoParts, "DecodeError"), (.weakKey, nil),
      (.issuedTooLongAgo, nil), (.doubledSubject, nil),
    ] as [(SandboxIDTokenFault, String?)])
  func `PyJWT rejects the sandbox's faulty ID tokens if it checks for the fault`(
    fault: SandboxIDTokenFault, reason: String?
  ) async throws {
    let sandbox = try await start(.rs256)
    sandbox.misbehave(at: .token, .idToken(fault))
    let wrong = try issue(sandbox).idToken
    let right = try issue(sandbox).idToken
    let claims = try await judge([wrong, right], .rs256, at: sandbox)
    #expect(claims.first?["refused"]?.string == reason)
    #expect(claims.last?["sub"] == "alice")
    await sandbox.stop()
  }
}
