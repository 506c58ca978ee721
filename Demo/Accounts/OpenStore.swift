import SequencingOAuth
import SequencingOAuthSecretService

/// A store of accounts, and where it is in words.
struct OpenStore: Sendable {
  let store: any TokenStore
  /// How its accounts were signed in; `nil` for a store that does not last.
  let clients: RememberedClients?
  private let findPlace: @Sendable () async -> String?

  init(_ store: any TokenStore, clients: (any TokenStore)? = nil, place: String?) {
    self.store = store
    self.clients = clients.map { RememberedClients($0) }
    findPlace = { place }
  }

  /// The desktop user's, which chooses its place when the first account is saved.
  init(_ store: DesktopTokenStore, clients: any TokenStore) {
    self.store = store
    self.clients = RememberedClients(clients)
    findPlace = { (try? await store.place)?.description ?? "a place that cannot be told" }
  }

  /// A store that ends with the program.
  static func memory() -> OpenStore {
    OpenStore(MemoryTokenStore(), place: nil)
  }

  /// Where accounts are kept, in words that a terminal can show; `nil` for nowhere.
  var place: String? {
    get async { await findPlace()?.printable }
  }

  /// Makes a call of the store, with its error as a failure.
  func attempt<Value: Sendable>(
    _ body: @Sendable (any TokenStore) async throws -> Value
  ) async throws(Failure) -> Value {
    try await Failure.calling(store, body)
  }
}

extension Failure {
  /// Makes a call of a store, with its error as a failure.
  static func calling<Value: Sendable>(
    _ store: any TokenStore, _ body: @Sendable (any TokenStore) async throws -> Value
  ) async throws(Failure) -> Value {
    do {
      return try await body(store)
    } catch let error as SQOAuthError {
      throw Failure(error)
    } catch {
      throw Failure(SQOAuthError(.storeFailed, "the token store failed"))
    }
  }
}
