import SQBasics

// Registrations that outlive the process and that programs can share.
extension ClientRegistrar {
  /// Returns the client's stored registration, renewed if necessary, or registers a new client.
  ///
  /// A new or renewed registration is stored.
  ///
  /// A stored registration is used unchanged if it passes ``ClientRegistration/check(against:)``
  /// and its secret is valid for at least another hour. Otherwise the client updates the
  /// registration at the server, so that its identifier stays the same and its users' accounts
  /// remain valid. The client registers again only if the update is impossible: the server offers
  /// no updates, no longer knows the client, or the update does not have the required result. The
  /// old registration is deleted if its secret has expired. If the server cannot be reached, a
  /// stored registration remains in use until its secret expires.
  ///
  /// Processes and hosts that share a store may call this at the same time with the same
  /// `metadata`, and get the same registration: the first one that is stored wins, and a client
  /// that turns out to be unnecessary is deleted. This requires a store whose
  /// ``RegistrationStore/save(_:replacing:)`` is a single step. In one process, simultaneous calls
  /// share the same work if they use the same registrar, equal `metadata` and the same store; the
  /// store must be an object. A caller whose task is cancelled may stop waiting; the work continues
  /// to its end.
  ///
  /// - Throws: ``SQOAuthError``: see ``register(_:)`` and ``update(_:to:)``; the store's error. If
  ///   a new registration cannot be stored, it is deleted if the server allows that.
  ///   ``SQOAuthError/Code/registrationMismatch`` if programs with different metadata keep
  ///   replacing the registration in the store.
  /// - SeeAlso: RFC 7591, section 3; RFC 7592, section 2
  public func registration(
    of metadata: ClientMetadata, in store: any RegistrationStore
  ) async throws(SQOAuthError) -> ClientRegistration {
    let keeping = RegistrationKeeping(registrar: self, metadata: metadata, store: store)
    // The response may contain a new secret, so no request is cancelled before its response.
    let work = { @Sendable () async throws(SQOAuthError) in
      try await uncancelled { () throws(SQOAuthError) in try await keeping.registration() }
    }
    guard let call = SharedCall(metadata, store) else { return try await work() }
    let registration = try await callsUnderWay.value(of: call, work)
    guard let registration else { throw .waitCancelled }
    return registration
  }

  /// The metadata and the store of a call; equal for calls that share the same work.
  struct SharedCall: Hashable, Sendable {
    private let metadata: ClientMetadata
    /// The identity of the store; the store lives at least as long as the call.
    private let store: ObjectIdentifier

    /// Creates the key of a call; `nil` if the store is not an object, because copies have no
    /// identity.
    init?(_ metadata: ClientMetadata, _ store: any RegistrationStore) {
      guard type(of: store) is AnyClass else { return nil }
      self.metadata = metadata
      self.store = ObjectIdentifier(store as AnyObject)
    }
  }
}
