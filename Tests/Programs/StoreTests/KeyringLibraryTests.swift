import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthSecretService
import TestSupport
import Testing

/// The keyring stores if libsecret is missing, incomplete or installed later.
@Suite(.timeLimit(.minutes(2)), .requires(CCompiler.requirement))
struct KeyringLibraryTests {
  private let folder: TemporaryFolder
  private let library: String

  init() throws {
    folder = try TemporaryFolder()
    library = folder.file("libsecret.so")
  }

  private var store: SecretServiceTokenStore {
    SecretServiceTokenStore(service: "app", folder: folder.path, bus: noBus, library: library)
  }

  /// Builds a library with every function of libsecret, GLib and GIO except one.
  private func buildLibrary(without missing: String) async throws {
    let list = PackageSources.root.appending(path: "Sources/CSQSecret/include/functions.h")
    let names = try String(contentsOf: list, encoding: .utf8)
      .matches(of: /\bSQ_FUNCTION\([^,]+, (\w+),/).map { String($0.1) }
    try #require(names.contains(missing))
    try await CCompiler.buildLibrary(
      names.filter { $0 != missing }.map { "void \($0)(void) {}\n" }.joined(), at: library,
      ["-fno-builtin"])
  }

  /// Builds an empty library that loads the real one.
  private func buildRealLibrary() async throws {
    try await CCompiler.buildLibrary(
      "", at: library, ["-Wl,--no-as-needed", "-l:libsecret-1.so.0"])
  }

  @Test func `a missing library is an error that names the package`() async throws {
    for error in [
      await failure(.storeFailed) { try await store.load("a") },
      await failure(.storeFailed) { try await store.save(record("a")) },
      await failure(.storeFailed) { try await store.list() },
      await failure(.storeFailed) { try await store.erase("a") },
      await failure(.storeFailed) { try await store.reserve("a", replacing: nil) },
    ] {
      let message = try #require(error?.message)
      #expect(message.contains("libsecret-1-0") && message.contains(library), "\(message)")
    }
    #expect(await !SecretServiceTokenStore.isAvailable(bus: noBus, library: library))
  }

  @Test(arguments: ["g_free", "g_task_new", "secret_value_unref"])
  func `a library that lacks a function causes an error that names the function`(
    missing: String
  ) async throws {
    try await buildLibrary(without: missing)
    let error = await failure(.storeFailed) { try await store.load("a") }
    let message = try #require(error?.message)
    #expect(message.contains("has no \(missing);") && message.contains("libsecret-1-0"))
    #expect(await !SecretServiceTokenStore.isAvailable(bus: noBus, library: library))
  }

  @Test(arguments: [nil, "g_free"])
  func `a desktop without the library stores accounts in a file`(
    missing: String?
  ) async throws {
    if let missing { try await buildLibrary(without: missing) }
    let store = DesktopTokenStore(
      service: "app", folder: folder.path, bus: noBus, hasDisplay: true, library: library)
    #expect(try await store.list() == [])
    try await store.save(record("a"))
    #expect(try await store.place == .encryptedFile(path: folder.file("tokens.sealed")))
    #expect(try await store.load("a") == record("a"))
  }

  @Test func `a missing library is an error if the accounts are in the keyring`() async throws {
    try folder.write("keyring\n", to: "tokens.place")
    let store = DesktopTokenStore(
      service: "app", folder: folder.path, bus: noBus, hasDisplay: true, library: library)
    let error = await failure(.storeFailed) { try await store.load("a") }
    #expect(error?.message.contains("libsecret-1-0") == true)
    await failure(.storeFailed) { try await store.save(record("a")) }
    #expect(!FileManager.default.fileExists(atPath: folder.file("tokens.sealed")))
  }

  @Test func `a library that is installed later is found`() async throws {
    let store = store
    let before = await failure(.storeFailed) { try await store.list() }
    #expect(before?.message.contains("cannot be loaded") == true)
    try await buildRealLibrary()
    let after = await failure(.storeFailed) { try await store.list() }
    #expect(after?.message.contains("D-Bus session") == true)
  }

  @Test func `simultaneous first calls can all use the library`() async throws {
    try await buildRealLibrary()
    let messages = await withTaskGroup(of: String?.self) { group in
      for _ in 0..<32 {
        let store = store
        group.addTask { await failure(.storeFailed) { try await store.list() }?.message }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(messages.count == 32)
    #expect(messages.allSatisfy { $0?.contains("D-Bus session") == true }, "\(messages)")
  }
}
