import CSQZlib
import SQFoundation

/// The gzip format for messages, implemented with zlib.
///
/// - SeeAlso: RFC 1952
enum Gzip {
  /// The most bytes that zlib reads or writes in one step of decompression, because it counts in 32
  /// bits.
  private static let largestPiece = 1 << 26

  /// Compresses data; returns `nil` if zlib has no memory or the data is too long for its counters.
  static func encode(_ data: Data) -> Data? {
    var stream = z_stream()
    guard sq_deflate_init(&stream) == Z_OK else { return nil }
    defer { deflateEnd(&stream) }
    let bound = Int(deflateBound(&stream, UInt(data.count)))
    guard bound <= UInt32.max else { return nil }
    let result = run(&stream, data, room: bound) { deflate(&$0, Z_FINISH) }
    return result.code == Z_STREAM_END ? result.output : nil
  }

  /// Decompresses data; throws if the data is damaged or the result has more bytes than the limit.
  ///
  /// The limit is checked after each piece, so a small message that expands to a huge one uses no
  /// more memory than the limit allows.
  static func decode(_ data: Data, limit: Int) throws(RPCCallError) -> Data {
    var stream = z_stream()
    let limit = max(limit, 0)
    guard sq_inflate_init(&stream) == Z_OK else {
      throw RPCCallError(.resourceExhausted, "zlib has no memory for a compressed message")
    }
    defer { inflateEnd(&stream) }
    var output = Data()
    var position = 0
    while true {
      // Room for one byte beyond the limit shows whether a message is too long.
      let left = min(limit - output.count, largestPiece - 1) + 1
      let room = min(max(4 * data.count, 4096), left)
      let input = data.dropFirst(position).prefix(largestPiece)
      let piece = run(&stream, input, room: room) { inflate(&$0, Z_NO_FLUSH) }
      position += piece.consumed
      output += piece.output
      guard output.count <= limit else {
        throw RPCCallError(
          .resourceExhausted,
          "the server sent a compressed message that has more than the allowed \(limit) bytes after "
            + "decompression")
      }
      if piece.code == Z_STREAM_END, position == data.count { return output }
      guard piece.code == Z_OK, piece.consumed > 0 || !piece.output.isEmpty else {
        throw RPCCallError(
          .internal, "the server sent a damaged message: it is not one complete gzip member")
      }
    }
  }

  /// Calls zlib once, with all of the input and a new output buffer of `room` bytes.
  private static func run(
    _ stream: inout z_stream, _ input: Data, room: Int, _ step: (inout z_stream) -> Int32
  ) -> (code: Int32, consumed: Int, output: Data) {
    var bytes = [UInt8](input)
    var code = Z_STREAM_ERROR
    let output = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
      code = bytes.withUnsafeMutableBufferPointer { bytes in
        stream.next_in = bytes.baseAddress
        stream.avail_in = UInt32(bytes.count)
        stream.next_out = buffer.baseAddress
        stream.avail_out = UInt32(room)
        return step(&stream)
      }
      count = room - Int(stream.avail_out)
    }
    return (code, bytes.count - Int(stream.avail_in), Data(output))
  }
}
