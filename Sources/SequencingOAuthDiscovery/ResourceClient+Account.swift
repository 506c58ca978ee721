import SQBasics
import SequencingOAuth

// The account of the resource: the one in use, and the one in the store.
extension ResourceClient {
  /// An account, the issuer of its tokens and the program's client at that issuer.
  struct Access: Sendable {
    let module: AuthorizationModule
    let issuer: String
    let client: IdentifiedClient

    /// Returns whether the account, the server and the client are the same.
    func isSame(as other: Access) -> Bool {
      module === other.module && issuer == other.issuer
        && client.clientID == other.client.clientID
        && client.redirectURIs == other.client.redirectURIs
    }

    /// Whether the module still acts as this client.
    var isCurrent: Bool {
      guard let configuration = module.configuration else { return false }
      return configuration.clientID == client.clientID && configuration.provider.issuer == issuer
    }

    /// The binding of the account's token, or of the tokens that the module asks for.
    var binding: TokenBinding? {
      module.session.record?.binding ?? module.configuration?.tokenBinding
    }

    /// Whether the account's token belongs to the module's client, so that it can be refreshed.
    var hasRecordOfItsClient: Bool {
      guard let configuration = module.configuration else { return false }
      return module.session.record.map { $0.wasIssued(to: configuration) } ?? true
    }
  }

  /// The account that the client uses; `nil` if it has not found one yet.
  var known: Access? { knownAccess.withLock(\.self) }

  /// Returns the account in use, or else the stored one; `nil` if there is none.
  func access() async throws(SQOAuthError) -> Access? {
    if let known { return known }
    guard let access = try await storedAccess() else { return nil }
    return use(access)
  }

  /// Returns the access to use from now on: `access`, or the current access if both are the same.
  @discardableResult
  func use(_ access: Access) -> Access {
    knownAccess.change { known in
      if let known, known.isSame(as: access) { return known }
      known = access
      return access
    }
  }

  /// Makes the next use of the account read the store.
  func forget() { knownAccess.change { $0 = nil } }

  /// The attribute for the resource's identifier, in an account that has a different id.
  static let resourceAttribute = "resource"

  private func storedAccess() async throws(SQOAuthError) -> Access? {
    let ids = options.accountID.map { [$0] } ?? resource.identifiers
    for id in ids {
      guard let record = try await accounts.store.attempt("be read", { try await $0.load(id) })
      else { continue }
      let identifier = try identifier(of: record)
      guard let issuer = record.issuer,
        let client = try await identification.client(
          at: issuer, id: record.clientID, scope: record.token.scope)
      else { continue }
      let configuration = configuration(
        of: client, binding: chosenBinding(client) ?? record.binding, for: identifier)
      if let module = try keptModule(id) {
        await adapt(module, to: configuration)
        return Access(module: module, issuer: issuer, client: client)
      }
      return Access(
        module: try await accounts.account(configuration, id: id), issuer: issuer, client: client)
    }
    return nil
  }

  /// Makes a module act as the client of the stored account, and takes over the stored token.
  ///
  /// Another process has signed a user in as that client, perhaps at another server.
  private func adapt(_ module: AuthorizationModule, to configuration: ClientConfiguration) async {
    let isSame = module.configuration.map {
      $0.clientID == configuration.clientID && $0.provider.issuer == configuration.provider.issuer
    }
    // A sign-in as another client replaces the stored account.
    guard isSame != true, !module.isSigningIn else { return }
    // The next call finds the client registered, and does not look into the store. So a
    // cancellation must not prevent this look.
    module.register(configuration)
    _ = await uncancelled { await module.session.lookAtStore() }
  }

  /// Returns the module that the manager keeps for an account; `nil` if there is none.
  ///
  /// The app may have created the module, with a configuration that does not name the resource.
  ///
  /// - Throws: `SQOAuthError.Code.duplicateName` if the module is for a different resource.
  func keptModule(_ id: String) throws(SQOAuthError) -> AuthorizationModule? {
    guard let module = accounts.module(id: id) else { return nil }
    let resources = module.configuration?.resources ?? []
    guard options.accountID == nil || resources.contains(where: resource.identifiers.contains)
    else { throw ofAnotherResource(id) }
    module.addNamed(resource.origin)
    return module
  }

  /// Returns the identifier of the resource that a stored account is for.
  ///
  /// - Throws: `SQOAuthError.Code.duplicateName` if the account is for a different resource.
  private func identifier(of record: AccountRecord) throws(SQOAuthError) -> String {
    guard options.accountID != nil else { return record.id }
    guard let identifier = record.attributes[Self.resourceAttribute],
      resource.identifiers.contains(identifier)
    else { throw ofAnotherResource(record.id) }
    return identifier
  }

  private func ofAnotherResource(_ id: String) -> SQOAuthError {
    SQOAuthError(
      .duplicateName,
      "the account \(id.printable) is not for \(resource), so its token must not be sent there; "
        + "choose a different accountID for each resource")
  }
}

extension AccountRecord {
  /// Returns whether the record's token was issued to this client by this client's server.
  func wasIssued(to client: ClientConfiguration) -> Bool {
    clientID == client.clientID && issuer == client.provider.issuer
  }

  /// The binding of the token to a key of its account; `nil` for any other token.
  var binding: TokenBinding? {
    proofKey.map { .dpop(algorithm: JWSAlgorithm(named: $0.algorithm)) }
  }
}
