import SQBasics
import SQFoundation

/// The format of an encrypted token file, whose key depends on the salt in the file's header.
///
/// Deriving the key takes long, so the result is kept. Another process may change the key and with
/// it the header, so the header is compared at each reading.
final class SealedFormat: TokenFileFormat {
  private struct State: Sendable {
    var key: StoreKey
    var sealer: RecordSealer?
    /// A new key that the file may already have, even if the write with that key reported an error.
    var next: (key: StoreKey, sealer: RecordSealer)?
  }

  private let state: Locked<State>

  init(key: StoreKey) {
    state = Locked(State(key: key))
  }

  var sealer: RecordSealer? { state.withLock(\.sealer) }

  func checkKey() throws(SQOAuthError) {
    try state.withLock(\.key).check()
  }

  func create() throws(SQOAuthError) -> SealedDocument {
    let sealer = try RecordSealer.make(state.withLock(\.key))
    state.withLock { $0.sealer = sealer }
    return SealedDocument(sealer)
  }

  func recognizes(_ bytes: Data) -> Bool { SealHeader.begins(bytes) }

  func decode(_ bytes: Data) throws(SQOAuthError) -> SealedDocument {
    guard let file = SealedFile(bytes) else {
      throw SQOAuthError(
        .storeDamaged,
        "it is not an encrypted token file, or its end is missing; nothing was changed: check the path, "
          + "or restore a copy")
    }
    return try SealedDocument(file, sealer: sealer(for: file.header))
  }

  func encode(_ document: SealedDocument) throws(SQOAuthError) -> Data {
    try document.encoded()
  }

  /// Seals the content with another key, for the next write of the file.
  func rekey(
    _ document: SealedDocument?, to key: StoreKey
  ) throws(SQOAuthError) -> SealedDocument? {
    guard let document else {
      // There is no file yet, so the first save uses the new key.
      take(key)
      return nil
    }
    let sealer = try RecordSealer.make(key)
    let resealed = try document.resealed(sealer)
    state.withLock { $0.next = (key, sealer) }
    return resealed
  }

  /// Switches to another key for all later reads and writes of the file.
  func take(_ key: StoreKey) { state.withLock { $0 = State(key: key) } }

  private func sealer(for header: Data) throws(SQOAuthError) -> RecordSealer {
    let (known, key) = state.withLock { state in
      if let next = state.next, next.sealer.header == header {
        state = State(key: next.key, sealer: next.sealer)
      }
      return (state.sealer, state.key)
    }
    if let known, known.header == header { return known }
    // The key is derived outside the lock, because the derivation takes long.
    let sealer = try RecordSealer(key, header: header)
    state.withLock { $0.sealer = sealer }
    return sealer
  }
}
