import Foundation
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// The system libraries that a run of the program loads, as reported by the system's loader.
@Suite(.timeLimit(.minutes(1))) struct `The loaded libraries` {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Runs the program, and returns its outcome and the names of all libraries that it loaded.
  private func libraries(
    _ arguments: [String]
  ) async throws -> (outcome: DemoProcess.Outcome, names: Set<String>) {
    let outcome = try await DemoProcess.run(
      arguments, in: folder,
      environment: ["LD_DEBUG": "files", "LD_DEBUG_OUTPUT": folder.file("loader")])
    let reports = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasPrefix("loader.") }
    let names = reports.flatMap { report in
      folder.read(report).matches(of: #/file=(?:\S*/)?(lib[^\s/]+?)\.so\S* \[/#)
        .map { String($0.1) }
    }
    return (outcome, Set(names))
  }

  private static let keyring: Set = ["libsecret-1", "libgio-2.0", "libgobject-2.0", "libglib-2.0"]

  @Test(arguments: DemoStore.all.filter { $0.passphrase == nil })
  func `the keyring's libraries are not loaded for another store`(store: DemoStore) async throws {
    let token = SQToken(accessToken: "the token", expirationDate: .now + 3600)
    try await store.open(store.path(folder)).save(
      AccountRecord(
        id: "default", clientID: "app", issuer: "https://id.example",
        tokenEndpoint: "https://id.example/token", token: token))
    let (outcome, names) = try await libraries(["token"] + store.options(folder))
    #expect(outcome.output == "the token\n", "\(outcome.errors)")
    #expect(names.contains("libcurl"))
    #expect(names.isDisjoint(with: Self.keyring), "\(names)")
  }

  @Test func `the keyring's libraries are loaded if the keyring is the store`() async throws {
    let (outcome, names) = try await libraries(["accounts", "--store", "keyring"])
    // The library exists, but there is no D-Bus session.
    #expect(outcome.errors.contains("there is no D-Bus session"))
    #expect(names.isSuperset(of: Self.keyring), "\(names)")
  }
}
