/// A store for the registrations of a client, one for each server.
///
/// Its methods may be called on any thread. An error of ``registrationLease(at:)`` is ignored. If
/// any other method throws an error, the operation that called the method fails.
public protocol RegistrationStore: Sendable {
  /// Returns the registration at a server; `nil` if there is none.
  func registration(at issuer: String) async throws -> ClientRegistration?
  /// Stores a registration in place of the previous registration at the same server.
  func save(_ registration: ClientRegistration) async throws
  /// Stores a registration unless another program has stored one; returns the stored registration.
  ///
  /// `earlier` is the registration that the caller has loaded, or `nil` if there was none. If the
  /// store now contains a registration at the same server that differs from `earlier`, that
  /// registration stays and is returned. Otherwise the new registration is stored and returned,
  /// even if the earlier one was erased.
  ///
  /// The default implementation loads, compares and saves in three steps. This is sufficient for a
  /// store that only one registrar in one process uses. If processes or hosts share your store,
  /// implement this method as a single step, such as a transaction. Between the default's steps,
  /// another host could save a registration. Both hosts would then use different clients, and the
  /// store would know only one of them.
  func save(
    _ registration: ClientRegistration, replacing earlier: ClientRegistration?
  ) async throws -> ClientRegistration
  /// Checks that a registration at a server could be saved now; changes no registration.
  ///
  /// A server may answer with a secret or a management token that it gives only once, and the old
  /// one no longer works. So a registrar calls this method before each request whose response it
  /// must store. If the method throws, the request is not sent. The default implementation does
  /// nothing. Implement it if saving can fail although loading works, for example because of a full
  /// disk or a missing permission.
  func checkSaving(at issuer: String) async throws
  /// Erases the registration at a server; does nothing if there is none.
  func eraseRegistration(at issuer: String) async throws
  /// Acquires the exclusive right to register at a server; returns `nil` while another caller has
  /// it.
  ///
  /// A registrar holds this lease while it registers a new client. So programs that start at the
  /// same time register only one client, even at a server that does not let clients be deleted. By
  /// default, a ``SharedTokenStore`` returns one of its leases. The default of any other store
  /// excludes no other caller; the processes of one machine can get their leases from
  /// ``AccountLocks``.
  func registrationLease(at issuer: String) async throws -> AccountLease?
}

extension RegistrationStore where Self: SharedTokenStore {
  /// Acquires the right to register at a server; returns `nil` while another process has it.
  public func registrationLease(at issuer: String) async throws -> AccountLease? {
    // An account's lease is named by the account's id; the line break makes this name different.
    try await lease("registration\n\(issuer)")
  }
}

extension RegistrationStore {
  /// Does nothing, because the store does not check whether it can save.
  public func checkSaving(at issuer: String) async throws {}

  /// Returns a lease that excludes no other caller.
  public func registrationLease(at issuer: String) async throws -> AccountLease? {
    AccountLease {}
  }

  /// Loads the registration at the same server, compares it and saves the new one, in three steps.
  public func save(
    _ registration: ClientRegistration, replacing earlier: ClientRegistration?
  ) async throws -> ClientRegistration {
    if let kept = try await self.registration(at: registration.issuer), kept != earlier {
      return kept
    }
    try await save(registration)
    return registration
  }

  /// Returns the stored registration; throws only errors of the SDK.
  package func kept(_ issuer: String) async throws(SQOAuthError) -> ClientRegistration? {
    do {
      return try await registration(at: issuer)
    } catch let error as SQOAuthError {
      throw error
    } catch {
      throw SQOAuthError(
        .storeFailed, "the client's registration could not be read from its store", cause: error)
    }
  }

  /// Stores a registration unless another program has stored one; throws only errors of the SDK.
  func keep(
    _ registration: ClientRegistration, replacing earlier: ClientRegistration?
  ) async throws(SQOAuthError) -> ClientRegistration {
    do {
      return try await save(registration, replacing: earlier)
    } catch {
      throw .unsaved(error)
    }
  }

  /// Checks that a registration could be saved now; throws only errors of the SDK.
  func rehearse(at issuer: String) async throws(SQOAuthError) {
    do {
      try await checkSaving(at: issuer)
    } catch {
      throw .unsaved(error)
    }
  }
}

extension SQOAuthError {
  /// Returns a store's error if it is one of the SDK, or else an error with that cause.
  fileprivate static func unsaved(_ error: any Error) -> SQOAuthError {
    error as? SQOAuthError
      ?? SQOAuthError(.storeFailed, "the client's registration could not be stored", cause: error)
  }
}
