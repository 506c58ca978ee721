import SQFoundation

/// A parser that splits the pieces of a response's body into messages.
struct FrameParser {
  /// The size of the largest allowed message on the wire, possibly compressed, in bytes.
  private let limit: Int
  /// The number of bytes that were read of a message's prefix, which is a flag and a length.
  private var prefixCount = 0
  private var isCompressed = false
  /// The received part of the current message's content.
  private var content = Data()
  /// The bytes of content that are still missing.
  ///
  /// Before the prefix is complete, it is the part of the length that has arrived.
  private var missing = 0

  /// The most bytes of memory to reserve for a message before its content arrives.
  private static let advance = 64 * 1024

  init(limit: Int) {
    self.limit = limit
  }

  /// Whether the last message is complete.
  var isAtEnd: Bool { prefixCount == 0 }

  /// Adds a piece and returns the messages that it completes.
  mutating func take(_ piece: UnsafeRawBufferPointer) throws(RPCCallError) -> [MessageFrame] {
    var frames: [MessageFrame] = []
    var position = 0
    while position < piece.count {
      if prefixCount < MessageFrame.prefixLength {
        try takePrefix(piece[position])
        position += 1
        if prefixCount < MessageFrame.prefixLength { continue }
      }
      let end = min(position + missing, piece.count)
      if let frame = takeContent(UnsafeRawBufferPointer(rebasing: piece[position..<end])) {
        frames.append(frame)
      }
      position = end
    }
    return frames
  }

  private mutating func takePrefix(_ byte: UInt8) throws(RPCCallError) {
    prefixCount += 1
    if prefixCount == 1 {
      guard byte <= 1 else {
        throw RPCCallError(.internal, "the server sent bytes that are not a gRPC message")
      }
      isCompressed = byte == 1
      return
    }
    missing = missing << 8 | Int(byte)
    guard prefixCount == MessageFrame.prefixLength else { return }
    guard missing <= limit else {
      throw RPCCallError(
        .resourceExhausted,
        "the server sent a message of \(missing) bytes; the limit is \(limit) bytes")
    }
    content.reserveCapacity(min(missing, Self.advance))
  }

  /// Adds content, and returns the message if it is complete.
  private mutating func takeContent(_ piece: UnsafeRawBufferPointer) -> MessageFrame? {
    content.append(contentsOf: piece)
    missing -= piece.count
    guard missing == 0 else { return nil }
    defer {
      prefixCount = 0
      content = Data()
    }
    return MessageFrame(isCompressed: isCompressed, content: content)
  }
}
