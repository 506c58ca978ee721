#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Cuts the response's body, which arrives in pieces of any size, into messages.
struct FrameParser {
  /// The largest message in bytes as it is sent, which may be compressed.
  let limit: Int
  /// The bytes that do not make a whole message yet.
  private var rest = Data()

  init(limit: Int) {
    self.limit = limit
  }

  /// Whether the last message is complete.
  var isAtEnd: Bool { rest.isEmpty }

  /// Adds a piece and returns the messages that are complete now.
  mutating func take(_ piece: Data) throws(RPCError) -> [MessageFrame] {
    rest.append(piece)
    var frames: [MessageFrame] = []
    var position = rest.startIndex
    while let frame = try frame(at: position) {
      frames.append(frame)
      position += MessageFrame.prefixLength + frame.content.count
    }
    // A copy, so that a small rest does not keep all the earlier bytes in memory.
    if position != rest.startIndex { rest = Data(rest[position...]) }
    return frames
  }

  private func frame(at position: Data.Index) throws(RPCError) -> MessageFrame? {
    let available = rest.endIndex - position
    guard available >= 1 else { return nil }
    guard rest[position] <= 1 else {
      throw RPCError(.internal, "the server sent bytes that are not a gRPC message")
    }
    guard available >= MessageFrame.prefixLength else { return nil }
    let content = position + MessageFrame.prefixLength
    let length = rest[(position + 1)..<content].reduce(0) { $0 << 8 | Int($1) }
    guard length <= limit else {
      throw RPCError(
        .resourceExhausted,
        "the server sent a message of \(length) bytes; the limit is \(limit) bytes")
    }
    guard available >= MessageFrame.prefixLength + length else { return nil }
    return MessageFrame(
      isCompressed: rest[position] == 1, content: Data(rest[content..<(content + length)]))
  }
}
