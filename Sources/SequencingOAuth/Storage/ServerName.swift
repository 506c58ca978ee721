import SQCrypto
public import SQFoundation

/// A digest that identifies an authorization server and a client together.
///
/// After failures, an `AccountKeeper` pauses such a pair: a server limits each client, and a wrong
/// secret is wrong for all accounts of the client.
public struct ServerName: Hashable, Sendable {
  /// The digest: eight bytes.
  public let bytes: Data

  /// Creates the digest for the server and the client of an account.
  public init(of record: AccountRecord) {
    let server = record.issuer ?? record.tokenEndpoint ?? ""
    bytes = Digest.sha256("\(server)\n\(record.clientID)").prefix(8)
  }
}
