import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How an encrypted token file is read and written: with what was derived for its header.
///
/// To derive takes long, so the result is kept. Another process may change the key, and with it the
/// header, which is therefore compared each time.
final class SealedFormat: TokenFileFormat {
  private struct State: Sendable {
    var key: StoreKey
    var sealer: RecordSealer?
    /// A new key, which the file may have already though the write was reported to have failed.
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

  func decode(_ bytes: Data) throws(SQOAuthError) -> SealedDocument {
    guard let file = SealedFile(bytes) else {
      throw SQOAuthError(
        .storeDamaged, "it is no encrypted token file, or is cut off, and is left as it is")
    }
    return try SealedDocument(file, sealer: sealer(for: file.header))
  }

  func encode(_ document: SealedDocument) throws(SQOAuthError) -> Data {
    try document.encoded()
  }

  /// Has the file's next version be under another key.
  func rekey(
    _ document: SealedDocument?, to key: StoreKey
  ) throws(SQOAuthError) -> SealedDocument? {
    guard let document else {
      // There is nothing yet: the first save uses the new key.
      state.withLock { $0 = State(key: key) }
      return nil
    }
    let sealer = try RecordSealer.make(key)
    let resealed = try document.resealed(sealer)
    state.withLock { $0.next = (key, sealer) }
    return resealed
  }

  private func sealer(for header: Data) throws(SQOAuthError) -> RecordSealer {
    let (known, key) = state.withLock { state in
      if let next = state.next, next.sealer.header == header {
        state = State(key: next.key, sealer: next.sealer)
      }
      return (state.sealer, state.key)
    }
    if let known, known.header == header { return known }
    // Not under the lock, since it takes long.
    let sealer = try RecordSealer(key, header: header)
    state.withLock { $0.sealer = sealer }
    return sealer
  }
}
