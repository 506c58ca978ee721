import Foundation
import SequencingOAuth
import SequencingOAuthSQLite
import TestSupport
import Testing

/// A kind of store that keeps registrations in one file.
struct RegistrationStoreKind: Sendable, CustomTestStringConvertible {
  let name: String
  let isSealed: Bool
  let make: @Sendable (_ path: String, StoreKey?) -> any RegistrationStore

  var testDescription: String { name }

  /// Opens the store in a folder.
  ///
  /// Two opened stores behave like two processes.
  func open(_ folder: TemporaryFolder) -> any RegistrationStore {
    make(path(folder), isSealed ? .file(path(folder) + ".key") : nil)
  }

  func path(_ folder: TemporaryFolder) -> String { folder.file("deep/er/clients") }

  /// Returns whether a file of the store contains a text.
  func isIn(_ folder: TemporaryFolder, _ text: String) throws -> Bool {
    try FileManager.default.contentsOfDirectory(atPath: folder.file("deep/er"))
      .filter { !$0.hasSuffix(".locks") }
      .contains { name in
        try Data(contentsOf: URL(filePath: folder.file("deep/er/" + name)))
          .range(of: Data(text.utf8)) != nil
      }
  }

  static let all = [false, true].flatMap { isSealed in
    [
      RegistrationStoreKind(name: isSealed ? "sealed file" : "file", isSealed: isSealed) {
        FileRegistrationStore(path: $0, key: $1)
      },
      RegistrationStoreKind(name: isSealed ? "encrypted SQLite" : "SQLite", isSealed: isSealed) {
        SQLiteTokenStore(path: $0, key: $1)
      },
    ]
  }
}
