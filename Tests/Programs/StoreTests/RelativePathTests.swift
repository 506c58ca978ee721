import Foundation
import LoopbackSupport
import ProgramSupport
import SQFiles
import SequencingOAuth
import TestSupport
import Testing

/// Stores with a relative path, in programs that change their working directory later.
@Suite(.timeLimit(.minutes(2))) struct RelativePathTests {
  private static let addresses = [
    "file:tokens.json", "encrypted:./tokens.sealed", "sqlite:tokens.sqlite",
    "encrypted-sqlite:deep/tokens.sqlite",
  ]

  /// Starts a command on a store whose path begins at the folder.
  private func start(
    _ address: String, in folder: TemporaryFolder, _ command: [String],
    input: ChildProcess.Input = .none
  ) throws -> ChildProcess {
    try ChildProcess(
      ["env", "--chdir", folder.path, StoreProbe.executable, address] + command, input: input)
  }

  @Test(arguments: addresses)
  func `a store finds its records in another working directory`(address: String) async throws {
    let (folder, elsewhere) = (try TemporaryFolder(), try TemporaryFolder())
    let saved = try await start(
      address, in: folder, ["save"], input: StoreProbe.input([record("a")])
    ).result()
    #expect(saved.output == "saved\n", "\(saved.errors)")
    let loaded = try await start(
      address, in: folder, ["elsewhere", elsewhere.path, "load", "a"]
    ).result()
    try #require(loaded.status == 0, "\(loaded.errors)")
    #expect(try loaded.record() == record("a"))
    #expect(try elsewhere.contents().isEmpty)
  }

  /// If both processes got the lease, both would send the same refresh token to the server.
  @Test(arguments: addresses, [[], ["opened"]] as [[String]])
  func `a lease excludes a process that has changed its working directory`(
    address: String, before: [String]
  ) async throws {
    let (folder, elsewhere) = (try TemporaryFolder(), try TemporaryFolder())
    let holder = try start(address, in: folder, ["lease", "a"], input: .open)
    _ = try await holder.line(after: "leased")
    let other = try await start(
      address, in: folder, before + ["elsewhere", elsewhere.path, "lease", "a"]
    ).result()
    #expect(other.output == "busy\n", "\(other.errors)")
    holder.endInput()
    #expect(try await holder.result().output == "leased\nreleased\n")
    #expect(try elsewhere.contents().isEmpty)
  }

  /// All threads share the working directory, so the test runs in its own process.
  @Test(.ownThreads)
  func `registrations, key files and locks stay in the first working directory`() async {
    await #expect(processExitsWith: .success) {
      let registration = try #require(try await Registrations.atOneServer(1).first)
      let (folder, elsewhere) = (try TemporaryFolder(), try TemporaryFolder())
      try #require(chdir(folder.path) == 0)
      let store = FileRegistrationStore(path: "clients", key: .file("clients.key"))
      let locks = AccountLocks(folder: "own.locks")
      let key = try await KeyManager.makeKeyFile(at: "made.key")
      try #require(chdir(elsewhere.path) == 0)
      #expect(store.path.hasPrefix("/") && store.path.hasSuffix("/clients"))
      try await store.save(registration)
      let lease = try #require(try locks.lease("a"))
      try await EncryptedFileTokenStore(path: folder.file("tokens"), key: key).save(record("a"))
      for name in ["clients", "clients.key", "own.locks", "made.key"] {
        #expect(folder.exists(name), "\(name)")
      }
      #expect(try elsewhere.contents().isEmpty)
      lease.release()
    }
  }

  @Test(.ownThreads)
  func `a path becomes absolute, but stays relative if the working directory was removed`() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      try #require(chdir(folder.path) == 0)
      let path = AbsolutePath.of("./a/../b")
      #expect(path.hasPrefix("/") && path.hasSuffix("/a/../b") && !path.contains("/./"))
      #expect(AbsolutePath.of("") == "" && AbsolutePath.of("/./b") == "/./b")
      try #require(rmdir(folder.path) == 0)
      #expect(AbsolutePath.of("./a/../b") == "./a/../b")
    }
  }
}
