import Foundation
import ProgramSupport
import SQBasics
import Testing

@testable import TestSupport

/// Checks that each type that stores a secret conforms to `Redacted`.
///
/// Otherwise a description of the value may show the secret. `PrintingTests` prints values of the
/// types that it knows. These tests find the other types, by the names of their stored values.
@Suite(.timeLimit(.minutes(10))) struct RedactedTypesTests {
  @Test func `every type that stores a secret hides it in its description`() async throws {
    let folder = try TemporaryFolder()
    var bare: Set<String> = []
    for module in try SymbolGraph.modules() {
      bare.formUnion(try await ModuleTypes(of: module, in: folder.path).bareSecrets)
    }
    let harmless = Set(SecretNames.harmless.keys)
    #expect(
      bare.subtracting(harmless).isEmpty,
      "let the type conform to Redacted, or say in SecretNames why the value is no secret")
    #expect(harmless.subtracting(bare).isEmpty, "SecretNames names values that are gone")
  }

  @Test func `the check for redacted types finds a sample type that prints its secret`()
    async throws
  {
    let folder = try TemporaryFolder()
    let types = try await ModuleTypes(of: "ClientProgramTests", in: folder.path)
    let found: Set = types.bareSecrets.filter { $0.hasPrefix("Sample") }
    #expect(
      found == [
        "SampleOfSecrets: let accessToken: String",
        "SampleOfSecrets: var refreshTokens: [String : Data] { get }",
        "SampleOfSecrets.Kind: case password(String)",
        "SampleOfSecrets.Kind: case file(path: String, passphrase: String?)",
      ])
  }
}

struct SampleOfSecrets {
  enum Kind {
    case password(String)
    case file(path: String, passphrase: String?)
    case plain(String)
    case failed(code: String, message: String)
  }

  let accessToken: String
  private(set) var refreshTokens: [String: Data]
  let kind: Kind
  let tokenType: String
  let hasToken: Bool
  var secret: String { accessToken }
  let readPassword: @Sendable () -> String
}

struct SampleOfRedaction: Redacted {
  let accessToken: String
}
