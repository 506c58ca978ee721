import Foundation
import SQBasics
import SequencingOAuth
import TestSupport
import Testing

/// Which of the system's libraries a run of the program loads, as the system's loader reports it.
@Suite(.timeLimit(.minutes(1))) struct `The libraries of a run` {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Runs the program, and returns the names of the libraries that it has loaded at any time.
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
  func `do not include the keyring's if its store is another one`(store: DemoStore) async throws {
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

  @Test func `include the keyring's if it is asked for accounts`() async throws {
    let (outcome, names) = try await libraries(["accounts", "--store", "keyring"])
    // There is a library, and no bus.
    #expect(outcome.errors.contains("there is no D-Bus session"))
    #expect(names.isSuperset(of: Self.keyring), "\(names)")
  }
}
