import SQBasics

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// A store that finds the accounts of a user, or of one session at a provider, without reading all
/// others.
package protocol SessionIndex: TokenStore {
  /// The accounts whose records may belong to a user or a session, in no certain order.
  ///
  /// There may be others among them, and records that cannot be read.
  func entries(of session: SessionName) async throws(SQOAuthError) -> [AccountEntry]
}

/// What a provider calls a user, or one session of a user.
package enum SessionName: Sendable, Hashable {
  case user(issuer: String, subject: String)
  case session(issuer: String, id: String)

  /// The bytes of which a store keeps a digest; different names have different bytes.
  package var bytes: Data {
    switch self {
    case .user(let issuer, let subject): Self.bytes("user", issuer, subject)
    case .session(let issuer, let id): Self.bytes("session", issuer, id)
    }
  }

  private static func bytes(_ kind: String, _ issuer: String, _ name: String) -> Data {
    // The length keeps an issuer apart from what follows it.
    Data("\(kind) \(issuer.utf8.count) \(issuer) \(name)".utf8)
  }
}

/// The digests by which a store finds a record; each is empty if the record has no such name.
package struct SessionDigests: Sendable, Hashable {
  package let user: Data
  package let session: Data

  /// Makes the digests of a record, each by a function of the store.
  package init(
    of record: AccountRecord, by digest: (SessionName) throws(SQOAuthError) -> Data
  ) throws(SQOAuthError) {
    guard let idToken = record.token.idToken else {
      self = .none
      return
    }
    user = try digest(.user(issuer: idToken.issuer, subject: idToken.subject))
    session =
      if let id = idToken.sessionID {
        try digest(.session(issuer: idToken.issuer, id: id))
      } else {
        Data()
      }
  }

  /// The digests of a record that has neither name.
  package static let none = SessionDigests()

  private init() {
    (user, session) = (Data(), Data())
  }
}

extension SessionDigests: Redacted {}
extension SessionName: Redacted {}
