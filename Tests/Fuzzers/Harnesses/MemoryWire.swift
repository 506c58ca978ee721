@testable import SQBasics

@testable import SequencingOAuthGRPC

/// A network in memory that delivers given bytes in pieces and keeps the sent bytes.
final class MemoryWire: Wire {
  let socket: Int32 = -1
  let context: OpaquePointer? = nil

  /// The bytes that have not been delivered yet.
  private(set) var rest: ArraySlice<UInt8>
  /// The largest piece that is delivered at a time.
  private let piece: Int
  /// Whether the connection ends after the bytes.
  var isEnding = false
  private(set) var received: [UInt8] = []
  private(set) var sent: [UInt8] = []
  private var sends = 0

  init(_ bytes: ArraySlice<UInt8>, piece: Int) {
    rest = bytes
    self.piece = piece
  }

  func receive(into buffer: UnsafeMutableRawBufferPointer) -> SocketIO.Outcome {
    let next = rest.prefix(min(piece, buffer.count))
    if next.isEmpty { return isEnding ? .end : .wait }
    buffer.copyBytes(from: next)
    received += next
    rest = rest.dropFirst(next.count)
    return .bytes(next.count)
  }

  /// Takes up to 1000 bytes, but none at every third call.
  func send(_ bytes: UnsafeRawBufferPointer) -> SocketIO.Outcome {
    sends += 1
    if sends % 3 == 0 { return .wait }
    let next = bytes.prefix(1000)
    sent += next
    return .bytes(next.count)
  }

  func watch(isWriting: Bool) {}
}
