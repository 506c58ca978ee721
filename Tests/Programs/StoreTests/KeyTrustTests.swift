import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// Which key files are accepted or rejected.
@Suite(.timeLimit(.minutes(2))) struct KeyTrustTests {
  @Test(arguments: [(0o644, false), (0o640, false), (0o400, true), (0o660, false), (0o606, false)])
  func `a user's own key file is rejected if others can read it`(
    mode: Int, isBelieved: Bool
  ) async throws {
    let folder = try TemporaryFolder()
    let user = PermissionTests.isRoot ? PermissionTests.nobody : nil
    if let user { chown(folder.path, user, user) }
    let path = folder.file("key")
    func makeKey() async throws -> ChildProcess.Result {
      try await StoreProbe.run(.encrypted, in: folder, ["make-key", path], user: user)
    }
    let first = try await makeKey()
    try setMode(mode, path)
    let second = try await makeKey()
    if isBelieved {
      #expect(second.output == first.output && second.status == 0, "\(second.errors)")
      #expect(try TemporaryFolder.mode(path) & 0o077 == 0)
    } else {
      #expect(second.code == .storeFailed && second.errors.contains(path), "\(second.errors)")
      #expect(second.errors.contains("0600") || second.errors.contains("chmod 600"))
      #expect(try TemporaryFolder.mode(path) == mode)
    }
  }

  @Test(
    .requires("root", PermissionTests.isRoot),
    arguments: [(0o444, true), (0o464, false), (0o446, false)])
  func `a root-owned key file may be readable for all but not writable, and keeps its mode`(
    mode: Int, isBelieved: Bool
  ) async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("key")
    _ = try await KeyManager.makeKeyFile(at: path)
    try setMode(mode, path)
    try setMode(0o755, folder.path)
    for user in [PermissionTests.nobody, nil] {
      let result = try await StoreProbe.run(
        .encrypted, in: folder, ["make-key", path], user: user)
      #expect(result.status == (isBelieved ? 0 : 1), "\(result.errors)")
    }
    #expect(try TemporaryFolder.mode(path) == mode)
  }

  @Test(.requires("root", PermissionTests.isRoot))
  func `another user's key is rejected`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("key")
    _ = try await KeyManager.makeKeyFile(at: path)
    chown(path, 1001, 1001)
    let error = await failure(.storeFailed) { try await KeyManager.makeKeyFile(at: path) }
    #expect(error?.message.contains("belongs to user 1001") == true)
  }

  @Test func `a named pipe or a huge file in a key's place is rejected`() async throws {
    let folder = try TemporaryFolder()
    #expect(mkfifo(folder.file("pipe"), 0o600) == 0)
    try Data().write(to: URL(filePath: folder.file("huge")))
    #expect(truncate(folder.file("huge"), 1 << 40) == 0)
    for name in ["pipe", "huge"] {
      let store = EncryptedFileTokenStore(
        path: folder.file("tokens"), key: .file(folder.file(name)))
      await failure(.storeFailed) { try await store.save(record("a")) }
      await failure(.storeFailed) { try await KeyManager.makeKeyFile(at: folder.file(name)) }
    }
  }

  private func setMode(_ mode: Int, _ path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }
}
