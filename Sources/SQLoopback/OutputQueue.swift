import SQBasics
import SQFoundation

/// The bytes that a connection still has to send.
struct OutputQueue {
  enum Progress {
    case done
    /// The client's receive window is full; `sent` is `true` if any byte was sent before that.
    case blocked(sent: Bool)
    case failed
  }

  private enum Piece {
    case bytes([UInt8])
    /// A large body, kept apart from the head to avoid a copy.
    case data(Data)
  }

  private var pieces: [Piece] = []
  private var sentOfFirst = 0

  var isEmpty: Bool { pieces.isEmpty }

  mutating func append(_ bytes: [UInt8]) {
    if !bytes.isEmpty { pieces.append(.bytes(bytes)) }
  }

  mutating func append(_ data: Data) {
    if !data.isEmpty { pieces.append(.data(data)) }
  }

  /// Sends until the queue is empty or the client's receive window is full.
  mutating func flush(_ socket: Int32) -> Progress {
    var hasSent = false
    while let piece = pieces.first {
      let offset = sentOfFirst
      let (count, outcome) =
        switch piece {
        case .bytes(let bytes):
          (bytes.count, bytes.withUnsafeBytes { Self.send(socket, $0, from: offset) })
        case .data(let data):
          (data.count, data.withUnsafeBytes { Self.send(socket, $0, from: offset) })
        }
      switch outcome {
      case .bytes(let sent):
        hasSent = true
        sentOfFirst += sent
        if sentOfFirst == count {
          pieces.removeFirst()
          sentOfFirst = 0
        }
      case .wait: return .blocked(sent: hasSent)
      case .end, .failed: return .failed
      }
    }
    return .done
  }

  private static func send(
    _ socket: Int32, _ bytes: UnsafeRawBufferPointer, from offset: Int
  ) -> SocketIO.Outcome {
    SocketIO.send(socket, UnsafeRawBufferPointer(rebasing: bytes[offset...]))
  }
}
