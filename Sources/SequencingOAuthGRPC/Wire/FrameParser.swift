#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Cuts the response's body, which arrives in pieces of any size, into messages.
struct FrameParser {
  /// The largest message in bytes as it is sent, which may be compressed.
  private let limit: Int
  /// The first bytes of a message, as far as they are here.
  private var prefix: [UInt8] = []
  /// The content of a message whose prefix is complete, as far as it is here.
  private var content = Data()
  /// How many bytes of the content are still to come; 0 while the prefix is not complete.
  private var missing = 0

  /// How much memory is taken for a message before its bytes are here.
  private static let advance = 64 * 1024

  init(limit: Int) {
    self.limit = limit
  }

  /// Whether the last message is complete.
  var isAtEnd: Bool { prefix.isEmpty }

  /// Adds a piece and returns the messages that are complete now.
  mutating func take(_ piece: Data) throws(RPCError) -> [MessageFrame] {
    var frames: [MessageFrame] = []
    var rest = piece[...]
    while !rest.isEmpty {
      if missing == 0 {
        takePrefix(&rest)
        guard try isPrefixComplete() else { continue }
      }
      if let frame = takeContent(&rest) { frames.append(frame) }
    }
    return frames
  }

  private mutating func takePrefix(_ rest: inout Data) {
    let piece = rest.prefix(MessageFrame.prefixLength - prefix.count)
    prefix.append(contentsOf: piece)
    rest = rest.dropFirst(piece.count)
  }

  /// Reads the prefix; returns whether it is complete.
  private mutating func isPrefixComplete() throws(RPCError) -> Bool {
    guard prefix[0] <= 1 else {
      throw RPCError(.internal, "the server sent bytes that are not a gRPC message")
    }
    guard prefix.count == MessageFrame.prefixLength else { return false }
    missing = prefix.dropFirst().reduce(0) { $0 << 8 | Int($1) }
    guard missing <= limit else {
      throw RPCError(
        .resourceExhausted,
        "the server sent a message of \(missing) bytes; the limit is \(limit) bytes")
    }
    content.reserveCapacity(min(missing, Self.advance))
    return true
  }

  /// Takes content, and returns the message if that is complete.
  private mutating func takeContent(_ rest: inout Data) -> MessageFrame? {
    let piece = rest.prefix(missing)
    content.append(piece)
    missing -= piece.count
    rest = rest.dropFirst(piece.count)
    guard missing == 0 else { return nil }
    defer {
      prefix.removeAll(keepingCapacity: true)
      content = Data()
    }
    return MessageFrame(isCompressed: prefix[0] == 1, content: content)
  }
}
