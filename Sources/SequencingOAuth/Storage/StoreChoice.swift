/// The token store that the app has chosen for an environment.
///
/// Stores cannot be compared. So a session recognizes by the identity of this object that the app
/// has set another store.
final class StoreChoice: Sendable {
  let store: any TokenStore

  init(_ store: any TokenStore) {
    self.store = store
  }
}
