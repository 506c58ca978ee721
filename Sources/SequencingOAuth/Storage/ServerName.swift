import SQCrypto
package import SQFoundation

/// A digest that identifies an authorization server and a client together.
///
/// After failures, an `AccountKeeper` pauses such a pair: a server limits each client, and a wrong
/// secret is wrong for all accounts of the client.
package struct ServerName: Hashable, Sendable {
  package let bytes: Data

  package init(of record: AccountRecord) {
    let server = record.issuer ?? record.tokenEndpoint ?? ""
    bytes = Digest.sha256("\(server)\n\(record.clientID)").prefix(8)
  }
}
