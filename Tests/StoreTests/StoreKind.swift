import SequencingOAuth
import TestSupport
import Testing

/// A kind of store, as the tests that every store passes make it.
struct StoreKind: Sendable, CustomTestStringConvertible {
  let name: String
  /// A store on what is in a folder; opened twice it is what two processes have.
  let open: @Sendable (TemporaryFolder) throws -> any TokenStore

  var testDescription: String { name }

  static let memory = StoreKind(name: "memory") { _ in MemoryTokenStore() }
  static let file = StoreKind(name: "file") { FileTokenStore(path: $0.file("deep/er/tokens.json")) }

  static let all = [memory, file] + keyring
}
