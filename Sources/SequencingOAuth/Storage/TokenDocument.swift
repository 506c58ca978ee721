#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The content of a token file: a format version and the accounts.
struct TokenDocument: Codable, Sendable {
  static let currentVersion = 1

  var version = currentVersion
  var accounts: [String: AccountRecord] = [:]

  /// Reads a file; one that is not there has no accounts, one that cannot be understood is an error.
  init(_ file: PrivateFile) throws(SQOAuthError) {
    let content: Data?
    do throws(FileError) {
      content = try file.read()
    } catch {
      throw Self.failure("be read", file, error)
    }
    guard let content else {
      self.init(version: Self.currentVersion, accounts: [:])
      return
    }
    guard let version = try? JSONDecoder().decode(Version.self, from: content).version else {
      throw Self.failure("be read: it is not a token file, and is left as it is", file)
    }
    guard version == Self.currentVersion else {
      throw Self.failure(
        "be read: version \(version) of its format is newer than this program", file)
    }
    do {
      self = try JSONDecoder().decode(Self.self, from: content)
    } catch {
      throw Self.failure("be read: it is damaged, and is left as it is", file)
    }
  }

  /// Writes the file.
  func write(to file: PrivateFile) throws(SQOAuthError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let content: Data
    do {
      content = try encoder.encode(self)
    } catch {
      throw SQOAuthError(.storeFailed, "the tokens cannot be encoded", cause: error)
    }
    do throws(FileError) {
      try file.replace(with: content)
    } catch {
      throw Self.failure("be written", file, error)
    }
  }

  /// An error that names the file and, where the system said why, its reason.
  static func failure(
    _ what: String, _ file: PrivateFile, _ cause: FileError? = nil
  ) -> SQOAuthError {
    SQOAuthError(
      .storeFailed,
      "the token file \(ErrorResponse.clean(file.path)) cannot \(what)"
        + (cause.map { " (\($0))" } ?? ""), cause: cause)
  }

  private struct Version: Decodable {
    let version: Int
  }

  private init(version: Int, accounts: [String: AccountRecord]) {
    self.version = version
    self.accounts = accounts
  }
}
