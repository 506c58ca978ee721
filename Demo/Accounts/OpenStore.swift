import SequencingOAuth
import SequencingOAuthSecretService

/// A store of accounts, and where it is in words.
struct OpenStore: Sendable {
  let store: any TokenStore
  private let findPlace: @Sendable () async -> String?

  init(_ store: any TokenStore, place: String?) {
    self.store = store
    findPlace = { place }
  }

  /// The desktop user's, which chooses its place when the first account is saved.
  init(_ store: DesktopTokenStore) {
    self.store = store
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
    do {
      return try await body(store)
    } catch let error as SQOAuthError {
      throw Failure(error)
    } catch {
      throw Failure(SQOAuthError(.storeFailed, "the token store failed"))
    }
  }
}
