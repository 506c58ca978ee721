import Foundation
import SQBasics

/// A source of content that gives a text as one chunk, and then the end.
final class OneChunk: Sendable {
  private let chunk: Locked<Data?>

  init(_ text: String) {
    chunk = Locked(Data(text.utf8))
  }

  var next: @Sendable () async throws -> Data? {
    { self.chunk.withLock { $0.take() } }
  }
}
