import SQBasics

// Registrations that outlive the process and that programs can share.
extension ClientRegistrar {
  /// Returns the client's stored registration, renewed if necessary, or registers a new client.
  ///
  /// A new or renewed registration is stored.
  ///
  /// A stored registration is used unchanged if it passes ``ClientRegistration/check(against:)``,
  /// no grant and no scope has been added to `metadata`, the server signs as its profile demands or
  /// was asked to, and its secret is valid for at least another hour. Otherwise the client updates
  /// the registration at the server, so that its identifier stays the same and its users' accounts
  /// remain valid. The client registers again only if the update is impossible: the server offers
  /// no updates, no longer knows the client, or the update does not have the required result. If the
  /// server refuses only the token for managing a client that needs no update, the client stays in
  /// use, and can no longer manage itself. The old registration is deleted if its secret has
  /// expired. If the server cannot be reached, a stored registration that has all that `metadata`
  /// requires remains in use until its secret expires.
  ///
  /// Processes and hosts that share a store may call this method at the same time with the same
  /// `metadata`, and get the same registration: the first one that is stored wins, and a client
  /// that turns out to be unnecessary is deleted. This requires a store whose
  /// ``RegistrationStore/save(_:replacing:)`` is a single step. In one process, simultaneous calls
  /// share one operation if they have equal `metadata` and the same store, which must be a class
  /// instance. Their registrars must be the same, or share an environment and differ only in their
  /// time limits. A caller whose task is cancelled might stop waiting; the operation continues to
  /// its end.
  ///
  /// - Throws: ``SQOAuthError``: see ``register(_:)`` and ``update(_:to:)``; the store's error. If
  ///   a new registration cannot be stored, it is deleted if the server allows that.
  ///   ``SQOAuthError/Code/registrationMismatch`` if programs with different metadata keep
  ///   replacing the registration in the store.
  /// - SeeAlso: RFC 7591, section 3; RFC 7592, section 2
  public func registration(
    of metadata: ClientMetadata, in store: any RegistrationStore
  ) async throws(SQOAuthError) -> ClientRegistration {
    try await registration(of: metadata, in: store, RegistrationOptions())
  }

  /// Returns the client's stored registration, renewed if necessary, or registers a new client.
  package func registration(
    of metadata: ClientMetadata, in store: any RegistrationStore, _ options: RegistrationOptions
  ) async throws(SQOAuthError) -> ClientRegistration {
    let keeping = RegistrationKeeping(
      registrar: self, metadata: metadata, store: store, options: options)
    // The response may contain a new secret, so no request is cancelled before its response.
    let work = { @Sendable () async throws(SQOAuthError) in
      try await uncancelled { () throws(SQOAuthError) in try await keeping.registration() }
    }
    guard let call = SharedCall(keeping) else { return try await work() }
    let registration = try await environment.registrations.value(of: call, work)
    guard let registration else { throw .waitCancelled }
    return registration
  }

  /// Renews a stored registration whose credentials the server has refused, and stores the result.
  ///
  /// - Returns: The registration that is in the store now, which may be unchanged; `nil` if the
  ///   server does not let the client renew itself, or no longer knows it.
  /// - Throws: The error of a server that cannot be reached or is in trouble; the store's error.
  package func renewed(
    _ kept: ClientRegistration, as metadata: ClientMetadata, in store: any RegistrationStore,
    _ options: RegistrationOptions
  ) async throws(SQOAuthError) -> ClientRegistration? {
    let keeping = RegistrationKeeping(
      registrar: self, metadata: metadata, store: store, options: options)
    return try await uncancelled { () throws(SQOAuthError) in try await keeping.renewed(kept) }
  }

  /// The key of a call: calls with equal keys share one operation.
  struct SharedCall: Hashable, Sendable {
    private let issuer: ExactText
    private let initialAccessToken: String?
    private let acceptsServersOnThisComputer: Bool
    private let metadata: ClientMetadata
    private let options: RegistrationOptions
    /// The identity of the store; it is unique, because the store lives at least as long as the
    /// call.
    private let store: ObjectIdentifier

    /// Creates the key of a call; `nil` if the store is not an object, because copies have no
    /// identity.
    fileprivate init?(_ keeping: RegistrationKeeping) {
      guard type(of: keeping.store) is AnyClass else { return nil }
      issuer = ExactText(keeping.registrar.issuer)
      initialAccessToken = keeping.registrar.initialAccessToken
      acceptsServersOnThisComputer = keeping.registrar.acceptsServersOnThisComputer
      metadata = keeping.metadata
      options = keeping.options
      store = ObjectIdentifier(keeping.store as AnyObject)
    }
  }
}

/// A program's demands on its registration that the client metadata does not contain.
package struct RegistrationOptions: Sendable, Hashable {
  /// Whether to register a few ports for each loopback redirect URI without a port, because many
  /// servers compare the port.
  package var fixesPorts = false
  /// Whether to ask the server if it still knows a stored client that can manage itself.
  ///
  /// It is not asked if it has replaced the token for the question before, because the answer with
  /// the next token could be lost.
  ///
  /// Without this check, if the server no longer knows the client, the user may see only an error
  /// page of the server.
  package var verifies = false
  /// Whether to keep a stored client that lacks a scope, if it cannot manage itself or its update
  /// fails.
  ///
  /// A new client would make the accounts of the stored client unusable.
  package var keepsScopes = false

  package init() {}
}

extension ClientRegistrar.SharedCall: Redacted {}
