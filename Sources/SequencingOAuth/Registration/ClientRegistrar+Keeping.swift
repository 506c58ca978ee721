import SQBasics

// Registrations that outlive the process, and that programs share.
extension ClientRegistrar {
  /// The kept registration of the client, renewed if it must be, or a new one, which is kept.
  ///
  /// A kept registration is used as it is if it passes ``ClientRegistration/check(against:)``, and
  /// if its secret does not end within the hour. Otherwise the client updates it at the server, so
  /// that its identifier stays, and with it the accounts of its users. It registers anew only
  /// if the server does not let it do that: the server offers no such request or does not know the
  /// client any more, or the update does not bring what is needed. The old registration is deleted
  /// if its secret has ended. If the server cannot be reached, a kept registration stays in use until its secret has
  /// ended.
  ///
  /// Processes and hosts that share a store may call this at once with the same `metadata`, and get
  /// the same registration: what another one keeps first counts, and a client that turns out
  /// not to be needed is deleted. That needs a store whose
  /// ``RegistrationStore/save(_:replacing:)`` is one step. In one process, calls at once on one
  /// registrar, with one store that is an object and with equal `metadata`, are one call. A caller
  /// whose task is cancelled may stop waiting; the call goes on to its end.
  ///
  /// - Throws: ``SQOAuthError``: see ``register(_:)`` and ``update(_:to:)``; the error of the
  ///   store. If a new registration cannot be kept, it is deleted again at a server that lets
  ///   clients do so. ``SQOAuthError/Code/registrationMismatch`` if programs with other metadata
  ///   keep replacing the registration in the store.
  /// - SeeAlso: RFC 7591, section 3; RFC 7592, section 2
  public func registration(
    of metadata: ClientMetadata, in store: any RegistrationStore
  ) async throws(SQOAuthError) -> ClientRegistration {
    let keeping = RegistrationKeeping(registrar: self, metadata: metadata, store: store)
    // A server may replace the secret with its answer, so no request may end before its answer.
    let work = { @Sendable () async throws(SQOAuthError) in
      try await uncancelled { () throws(SQOAuthError) in try await keeping.registration() }
    }
    guard let call = SharedCall(metadata, store) else { return try await work() }
    let registration = try await callsUnderWay.value(of: call, work)
    guard let registration else { throw .waitCancelled }
    return registration
  }

  /// What calls have in common that are one call.
  struct SharedCall: Hashable, Sendable {
    private let metadata: ClientMetadata
    /// The store lives at least as long as the call.
    private let store: ObjectIdentifier

    /// `nil` for a store that is no object, since its copies cannot be told apart.
    init?(_ metadata: ClientMetadata, _ store: any RegistrationStore) {
      guard type(of: store) is AnyClass else { return nil }
      self.metadata = metadata
      self.store = ObjectIdentifier(store as AnyObject)
    }
  }
}
