import SQCrypto

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// A client at an authorization server, by a digest of both.
///
/// A pause holds for this, since a server limits its clients, and since a wrong secret is wrong for
/// all accounts of the client.
package struct ServerName: Hashable, Sendable {
  package let bytes: Data

  package init(of record: AccountRecord) {
    let server = record.issuer ?? record.tokenEndpoint ?? ""
    bytes = Digest.sha256("\(server)\n\(record.clientID)").prefix(8)
  }
}
