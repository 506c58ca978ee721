/// Keeps the registrations of a client, one for each server.
///
/// Any thread may call it. An error that it throws ends the operation that needed it.
public protocol RegistrationStore: Sendable {
  /// The registration at a server; `nil` if there is none.
  func registration(at issuer: String) async throws -> ClientRegistration?
  /// Keeps a registration in place of the one at the same server.
  func save(_ registration: ClientRegistration) async throws
  /// Forgets the registration at a server; without one it does nothing.
  func eraseRegistration(at issuer: String) async throws
}

extension RegistrationStore {
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

  /// Keeps a registration; throws errors of the SDK only.
  func keep(_ registration: ClientRegistration) async throws(SQOAuthError) {
    do {
      try await save(registration)
    } catch let error as SQOAuthError {
      throw error
    } catch {
      throw SQOAuthError(.storeFailed, "the registration could not be kept", cause: error)
    }
  }
}
