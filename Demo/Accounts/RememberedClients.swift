import SequencingOAuth

/// How accounts were signed in, kept apart from their tokens.
///
/// A session's end erases the account's record, and with it the client and the server. What is here
/// outlives that, so that the account can be signed in again by its name. It is a store beside the
/// tokens' own, as private as that one is, of records without a token and without a secret.
struct RememberedClients: Sendable {
  private let store: any TokenStore

  init(_ store: any TokenStore) {
    self.store = store
  }

  /// Keeps how an account was signed in, in the place of what was kept of it before.
  func remember(_ id: String, _ clientID: String, _ client: KeptClient) async throws(Failure) {
    guard let record = client.record(id, clientID) else { return }
    try await Failure.calling(store) { try await $0.save(record) }
  }

  /// How an account was signed in: a record that has no token.
  func record(_ id: String) async throws(Failure) -> AccountRecord? {
    try await Failure.calling(store) { try await $0.load(id) }
  }

  /// How every account was signed in, in the order of their names.
  func all() async throws(Failure) -> [AccountRecord] {
    try await Failure.calling(store) { try await $0.all() }
  }

  /// Forgets how an account was signed in; says whether that was known.
  @discardableResult
  func forget(_ id: String) async throws(Failure) -> Bool {
    guard try await record(id) != nil else { return false }
    try await Failure.calling(store) { try await $0.erase(id) }
    return true
  }
}

extension KeptClient {
  /// The record of an account that has no token; `nil` where its server is not known.
  fileprivate func record(_ id: String, _ clientID: String) -> AccountRecord? {
    let (issuer, tokenEndpoint): (String?, String?)
    switch server {
    case .known(let known): (issuer, tokenEndpoint) = (known.issuer, nil)
    case .issuer(let text): (issuer, tokenEndpoint) = (text, nil)
    case .endpoints(_, let token, _): (issuer, tokenEndpoint) = (nil, token)
    case nil: return nil
    }
    return AccountRecord(
      id: id, clientID: clientID, issuer: issuer, tokenEndpoint: tokenEndpoint,
      token: SQToken(accessToken: ""), attributes: withoutSecret.attributes)
  }
}
