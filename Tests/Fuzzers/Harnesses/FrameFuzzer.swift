import FoundationEssentials

@testable import SequencingOAuthGRPC

extension Fuzzer {
  /// A fuzzer for the messages of a gRPC stream, in pieces of several sizes.
  static let frames = Fuzzer("grpc-frames") { input in
    let whole = Frames(input, piece: max(1, input.count))
    for size in [1, 2, 5, 64] {
      let cut = Frames(input, piece: size)
      try require(cut.status == whole.status, "pieces of \(size) bytes end differently")
      // If the parser finds a fault in a piece, it returns no message from that piece, so larger
      // pieces may give fewer messages.
      let isSame =
        whole.status == nil ? cut.frames == whole.frames : cut.frames.starts(with: whole.frames)
      try require(isSame, "pieces of \(size) bytes read differently")
    }
    var consumed = Data()
    for frame in whole.frames {
      try require(frame.content.count <= Frames.limit, "a message of \(frame.content.count) bytes")
      consumed += frame.bytes
      // A damaged or too large message must cause an error, and no crash.
      let message = try? frame.message(encoding: "gzip", limit: Frames.limit)
      try require((message?.count ?? 0) <= Frames.limit, "too large a message")
    }
    try require(input.starts(with: consumed), "the frames are not the bytes that came")
    if whole.status == nil {
      try require(whole.isAtEnd == (consumed.count == input.count), "isAtEnd is wrong")
    }
    try requireReadAgain(input)
  }

  private static func requireReadAgain(_ message: Data) throws {
    for compression in [RPCCompression.identity, .gzip] {
      let frame = try MessageFrame(message, compression: compression, limit: message.count)
      let read = Frames(frame.bytes + frame.bytes, piece: 3, limit: message.count)
      try require(read.frames == [frame, frame] && read.isAtEnd, "a frame is read differently")
      let again = try frame.message(encoding: "gzip", limit: message.count)
      try require(again == message, "a message comes back different")
    }
  }
}

/// The parser's results for a stream.
private struct Frames {
  static let limit = 300

  var frames: [MessageFrame] = []
  /// The status of the parser's error; `nil` if there was none.
  var status: RPCStatus?
  var isAtEnd = false

  init(_ input: Data, piece: Int, limit: Int = limit) {
    var parser = FrameParser(limit: limit)
    var rest = input
    do throws(RPCCallError) {
      while !rest.isEmpty {
        frames += try rest.prefix(piece).withUnsafeBytes { bytes in
          Result { () throws(RPCCallError) in try parser.take(bytes) }
        }.get()
        rest = rest.dropFirst(piece)
      }
      isAtEnd = parser.isAtEnd
    } catch {
      status = error.status
    }
  }
}
