import SQCrypto
public import SQFoundation

/// A digest that identifies an authorization server and a client together.
///
/// After failures, an `AccountKeeper` sends no requests for such a pair for some time. The other
/// clients of the server are not affected, because a server limits the requests of each client
/// separately, and a wrong secret concerns only one client.
public struct ServerName: Hashable, Sendable {
  /// The digest: eight bytes.
  public let bytes: Data

  /// Creates the digest for the server and the client of an account.
  public init(of record: AccountRecord) {
    let server = record.issuer ?? record.tokenEndpoint ?? ""
    bytes = Digest.sha256("\(server)\n\(record.clientID)").prefix(8)
  }
}
