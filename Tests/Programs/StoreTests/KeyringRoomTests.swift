import Foundation
import ProgramSupport
import SequencingOAuth
import SequencingOAuthSecretService
import TestSupport
import Testing

/// Calls to the keyring in a process that has no free file descriptors.
///
/// GLib ends a process to which the system gives no descriptor.
@Suite(.timeLimit(.minutes(2)), .requires(.keyring)) struct KeyringRoomTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// The limit of a process's open files.
  private struct OpenFiles {
    private static let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    private var usual = rlimit()

    init() throws {
      try #require(getrlimit(Self.kind, &usual) == 0)
    }

    /// Leaves at most `count` descriptors free.
    func leave(_ count: Int) throws {
      restore()
      // A new descriptor has the lowest free number, so every lower one is in use.
      let lowest = dup(STDERR_FILENO)
      close(lowest)
      var limit = usual
      limit.rlim_cur = rlim_t(Int(lowest) + count)
      try #require(setrlimit(Self.kind, &limit) == 0)
    }

    func restore() {
      var limit = usual
      setrlimit(Self.kind, &limit)
    }
  }

  @Test(.ownThreads)
  func `without free file descriptors a call fails, and a save of a new token waits for some`()
    async throws
  {
    let desktop = try await PrivateDesktop(keyring: true)
    await #expect(processExitsWith: .success) {
      [bus = desktop.address as String, path = folder.path as String] in
      // At its first timer, Dispatch opens files, and crashes if it cannot. It must open them now.
      try await Task.sleep(for: .nanoseconds(1))
      let files = try OpenFiles()
      let (before, after) = (record("a"), record("a", token: SQToken(accessToken: "2")))
      // The app closes some files when the first attempt to save has failed.
      let store = SecretServiceTokenStore(service: "app", folder: path, bus: bus) {
        files.restore()
      }
      try await store.save(before)
      let reservation = try await store.reserve("a", replacing: before)
      let error = try await onSerialQueue {
        try files.leave(0)
        let error = await failure(.storeFailed) { try await store.load("a") }
        try await store.save(after)
        return error
      }
      try #require(error?.message.contains("Too many open files") == true)
      reservation.release()
      try #require(try await store.load("a") == after)
    }
    await desktop.stop()
  }

  @Test(.ownThreads)
  func `with any number of free file descriptors a call succeeds or fails and ends no process`()
    async throws
  {
    let desktop = try await PrivateDesktop(keyring: true)
    await #expect(processExitsWith: .success) { [bus = desktop.address as String] in
      try await Task.sleep(for: .nanoseconds(1))
      let files = try OpenFiles()
      let isAvailable = try await onSerialQueue {
        var isAvailable = false
        for free in 0...40 {
          try files.leave(free)
          isAvailable = await SecretServiceTokenStore.isAvailable(bus: bus)
        }
        return isAvailable
      }
      files.restore()
      try #require(isAvailable)
    }
    await desktop.stop()
  }
}
