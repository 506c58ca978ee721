import SQBasics
import SequencingOAuth

/// The clients and servers of accounts, stored apart from their tokens.
///
/// When a session ends, the account's record is erased, including the client and the server. This
/// store remains, so that the account can be signed in again by its name. It is next to the store
/// of the tokens and just as private, and its records contain no token and no secret. A change is
/// completed even if a signal interrupts the command.
struct RememberedClients: Sendable {
  private let store: any TokenStore

  init(_ store: any TokenStore) {
    self.store = store
  }

  /// Stores how an account was signed in, and replaces the account's earlier record.
  func remember(_ id: String, _ clientID: String, _ client: KeptClient) async throws(Failure) {
    guard let record = client.record(id, clientID) else { return }
    try await uncancelled { () throws(Failure) in
      try await Failure.calling(store) { try await $0.save(record) }
    }
  }

  /// Loads how an account was signed in: a record without a token, or `nil` if there is none.
  func record(_ id: String) async throws(Failure) -> AccountRecord? {
    try await Failure.calling(store) { try await $0.load(id) }
  }

  /// Loads the records of all accounts, sorted by the account's name; no record has a token.
  func all() async throws(Failure) -> [AccountRecord] {
    try await Failure.calling(store) { try await $0.all() }
  }

  /// Loads the records that can be read, as ``all()`` does, and the ids and errors of the others.
  func readable() async throws(Failure) -> (
    records: [AccountRecord], others: [(id: String, error: SQOAuthError)]
  ) {
    try await Failure.calling(store) { try await $0.readable() }
  }

  /// Removes the record of how an account was signed in, and returns `false` if there was none.
  @discardableResult
  func forget(_ id: String) async throws(Failure) -> Bool {
    try await uncancelled { () throws(Failure) in
      guard try await record(id) != nil else { return false }
      try await Failure.calling(store) { try await $0.erase(id) }
      return true
    }
  }
}

extension KeptClient {
  /// Returns the record for an account without a token, or `nil` if the account's server is not
  /// known.
  fileprivate func record(_ id: String, _ clientID: String) -> AccountRecord? {
    let (issuer, tokenEndpoint): (String?, String?)
    switch server {
    case .known(let known): (issuer, tokenEndpoint) = (known.issuer, nil)
    case .issuer(let text): (issuer, tokenEndpoint) = (text, nil)
    case .endpoints(let endpoints):
      (issuer, tokenEndpoint) = (endpoints.issuer, endpoints.token)
    case nil: return nil
    }
    return AccountRecord(
      id: id, clientID: clientID, issuer: issuer, tokenEndpoint: tokenEndpoint,
      token: SQToken(accessToken: ""), attributes: withoutSecret.attributes)
  }
}
