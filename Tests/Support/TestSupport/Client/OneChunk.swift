import Foundation
import SQBasics

/// A stream of one chunk.
final class OneChunk: Sendable {
  private let chunk: Locked<Data?>

  init(_ text: String) {
    chunk = Locked(Data(text.utf8))
  }

  var next: @Sendable () async throws -> Data? {
    { self.chunk.withLock { $0.take() } }
  }
}
