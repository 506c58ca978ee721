import SequencingOAuth
import SequencingOAuthSecretService

/// An opened store of accounts, with its location in words.
struct OpenStore: Sendable {
  let store: any TokenStore
  /// The stored clients of the accounts' sign-ins; `nil` for a store in memory.
  let clients: RememberedClients?
  /// The store of the program's own registrations at servers.
  let registrations: any RegistrationStore
  private let findPlace: @Sendable () async -> String?

  init(
    _ store: any TokenStore, clients: (any TokenStore)? = nil,
    registrations: any RegistrationStore = MemoryRegistrationStore(), place: String?
  ) {
    self.store = store
    self.clients = clients.map { RememberedClients($0) }
    self.registrations = registrations
    findPlace = { place }
  }

  /// Creates the default store, which uses the keyring or a file.
  ///
  /// The store decides this when the first account is saved.
  init(
    _ store: DesktopTokenStore, clients: any TokenStore, registrations: any RegistrationStore
  ) {
    self.store = store
    self.clients = RememberedClients(clients)
    self.registrations = registrations
    findPlace = { (try? await store.place)?.description ?? "an unknown place" }
  }

  /// Creates a store in memory; its accounts end with the program.
  static func memory() -> OpenStore {
    OpenStore(MemoryTokenStore(), place: nil)
  }

  /// The location of the store, in words that a terminal can show; `nil` for a store in memory.
  var place: String? {
    get async { await findPlace()?.onScreen }
  }

  /// Returns the redirect URIs that a sign-in tries before the client's own redirect URI.
  ///
  /// The program has registered them for the client, usually as copies of its own URI with a port.
  /// The result is empty if the program has not registered the client with its own URI.
  func registeredURIs(of client: ClientConfiguration) async -> [String] {
    guard let uri = client.redirectURI?.string,
      let registration = await ownRegistration(client.clientID, at: client.provider.issuer),
      registration.redirectURIs.contains(uri)
    else { return [] }
    return LoopbackPorts.usable(registration.redirectURIs).filter { $0 != uri }
  }

  /// Returns the registration of a client that this program has registered itself; `nil` for any
  /// other client.
  func ownRegistration(_ clientID: String, at issuer: String?) async -> ClientRegistration? {
    guard let issuer, let registration = try? await registrations.registration(at: issuer),
      registration.clientID == clientID
    else { return nil }
    return registration
  }

  /// Calls the store, and converts its error to a failure.
  func attempt<Value: Sendable>(
    _ body: @Sendable (any TokenStore) async throws -> Value
  ) async throws(Failure) -> Value {
    try await Failure.calling(store, body)
  }
}

extension Failure {
  /// Calls a store, and converts its error to a failure.
  static func calling<Value: Sendable>(
    _ store: any TokenStore, _ body: @Sendable (any TokenStore) async throws -> Value
  ) async throws(Failure) -> Value {
    do {
      return try await body(store)
    } catch let error as SQOAuthError {
      throw Failure(error)
    } catch {
      throw Failure(SQOAuthError(.storeFailed, "the token store failed", cause: error))
    }
  }
}
