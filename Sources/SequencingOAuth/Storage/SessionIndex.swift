import SQBasics
package import SQFoundation

/// A store with an index of the accounts of each user and of each session at a provider.
public protocol SessionIndex: TokenStore {
  /// Returns the accounts that may belong to a user or a session, in any order.
  ///
  /// The result may include other accounts, and records that cannot be read.
  func entries(of session: SessionName) async throws(SQOAuthError) -> [AccountEntry]
}

/// The provider's name for a user, or for one session of a user.
public enum SessionName: Sendable, Hashable {
  case user(issuer: String, subject: String)
  case session(issuer: String, id: String)

  /// The bytes that a store hashes; different names have different bytes.
  package var bytes: Data {
    switch self {
    case .user(let issuer, let subject): Self.bytes("user", issuer, subject)
    case .session(let issuer, let id): Self.bytes("session", issuer, id)
    }
  }

  private static func bytes(_ kind: String, _ issuer: String, _ name: String) -> Data {
    // The length separates the issuer from the following text.
    Data("\(kind) \(issuer.utf8.count) \(issuer) \(name)".utf8)
  }
}

/// The digests of a record's user and session, for a store's index.
///
/// Without an ID token in the record, both digests are empty. If no ID token has named the session,
/// `session` is empty.
package struct SessionDigests: Sendable, Hashable {
  package let user: Data
  package let session: Data

  /// Creates the digests of a record with the store's digest function.
  package init(
    of record: AccountRecord, by digest: (SessionName) throws(SQOAuthError) -> Data
  ) throws(SQOAuthError) {
    guard let idToken = record.token.idToken else {
      self = .none
      return
    }
    user = try digest(.user(issuer: idToken.issuer, subject: idToken.subject))
    session =
      if let id = record.providerSessionID {
        try digest(.session(issuer: idToken.issuer, id: id))
      } else {
        Data()
      }
  }

  /// The empty digests of a record that names neither a user nor a session.
  package static let none = SessionDigests()

  private init() {
    (user, session) = (Data(), Data())
  }
}

extension SessionDigests: Redacted {}
extension SessionName: Redacted {}
