/// Keeps the registrations of a client, one for each server.
///
/// Any thread may call it. An error that it throws ends the operation that needed it.
public protocol RegistrationStore: Sendable {
  /// The registration at a server; `nil` if there is none.
  func registration(at issuer: String) async throws -> ClientRegistration?
  /// Keeps a registration in place of the one at the same server.
  func save(_ registration: ClientRegistration) async throws
  /// Keeps a registration if no other program has kept one meanwhile; returns the registration
  /// that stands.
  ///
  /// `earlier` is the registration that the caller has loaded, or `nil` if there was none. If the
  /// store now has another registration at the same server, that one stays and is returned.
  /// Otherwise the new one is kept and returned, also if the earlier one was erased.
  ///
  /// The default implementation loads, compares and saves in three steps. That is right for a store
  /// that one registrar of one process uses. If processes or hosts share your store, implement this
  /// method in one step, such as a transaction: between the steps of the default another host may
  /// save, and both would then use clients of their own, of which the store knows only one.
  func save(
    _ registration: ClientRegistration, replacing earlier: ClientRegistration?
  ) async throws -> ClientRegistration
  /// Forgets the registration at a server; without one it does nothing.
  func eraseRegistration(at issuer: String) async throws
}

extension RegistrationStore {
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

  /// The kept registration; throws errors of the SDK only.
  func kept(_ issuer: String) async throws(SQOAuthError) -> ClientRegistration? {
    do {
      return try await registration(at: issuer)
    } catch let error as SQOAuthError {
      throw error
    } catch {
      throw SQOAuthError(.storeFailed, "the registration could not be read", cause: error)
    }
  }

  /// Keeps a registration as ``save(_:replacing:)`` does; throws errors of the SDK only.
  func keep(
    _ registration: ClientRegistration, replacing earlier: ClientRegistration?
  ) async throws(SQOAuthError) -> ClientRegistration {
    do {
      return try await save(registration, replacing: earlier)
    } catch let error as SQOAuthError {
      throw error
    } catch {
      throw SQOAuthError(.storeFailed, "the registration could not be kept", cause: error)
    }
  }
}
