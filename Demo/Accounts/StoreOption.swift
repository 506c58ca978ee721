import SQBasics

/// The value of `--store`: the kind of store and its path.
enum StoreOption: Sendable, Equatable {
  case memory
  case keyring
  case file(String)
  case encrypted(String)
  case sqlite(String)
  case encryptedSQLite(String)
  case postgreSQL(DatabaseAddress)

  init?(_ text: String?) throws(Failure) {
    guard let text else { return nil }
    if let address = try DatabaseAddress(text) {
      self = .postgreSQL(address)
      return
    }
    let kind = text.prefix { $0 != ":" }
    let path = try Self.expandingHome(String(text.dropFirst(kind.count + 1)))
    switch kind {
    case "memory" where text == "memory": self = .memory
    case "keyring" where text == "keyring": self = .keyring
    case "file" where !path.isEmpty: self = .file(path)
    case "encrypted" where !path.isEmpty: self = .encrypted(path)
    case "sqlite" where !path.isEmpty: self = .sqlite(path)
    case "encrypted-sqlite" where !path.isEmpty: self = .encryptedSQLite(path)
    case "file", "encrypted", "sqlite", "encrypted-sqlite":
      throw .usage("--store \(text) names no file; write --store \(kind):PATH")
    default:
      // The rest may be a password, in a form of libpq that is not one of these.
      let isWord = kind.utf8.allSatisfy { $0.isLetter || $0 == UInt8(ascii: "-") }
      throw .usage(
        "--store takes keyring, file:PATH, encrypted:PATH, sqlite:PATH, encrypted-sqlite:PATH, "
          + "postgresql://USER@HOST/DATABASE or memory"
          + (isWord ? ", not \"\(kind)\(kind.endIndex == text.endIndex ? "" : ":...")\"" : "")
          + Suggestion.question(String(kind), among: Option.store.choices))
    }
  }

  /// The path of the store's file; `nil` if the store has no file.
  var path: String? {
    switch self {
    case .memory, .keyring, .postgreSQL: nil
    case .file(let path), .encrypted(let path), .sqlite(let path), .encryptedSQLite(let path): path
    }
  }

  var isEncrypted: Bool {
    switch self {
    case .encrypted, .encryptedSQLite, .postgreSQL: true
    case .memory, .keyring, .file, .sqlite: false
    }
  }

  /// Replaces `~` with the home folder, because a shell does not do that in `file:~/tokens`.
  private static func expandingHome(_ path: String) throws(Failure) -> String {
    guard path.hasPrefix("~/") else { return path }
    let home: String?
    do throws(EnvironmentVariable.NotText) {
      home = try EnvironmentVariable.text("HOME")
    } catch {
      throw .usage("\(error), so ~ in --store cannot be replaced")
    }
    guard let home, home.hasPrefix("/") else {
      throw .usage("~ in --store cannot be replaced: HOME is not set to an absolute path")
    }
    return home + path.dropFirst()
  }
}
