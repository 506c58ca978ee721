import SQFoundation
import SequencingOAuth

/// A message in its wire format: a compression flag, a length of four bytes, and the content.
///
/// - SeeAlso: gRPC's `doc/PROTOCOL-HTTP2.md`, "Length-Prefixed-Message"
struct MessageFrame: Sendable, Equatable {
  static let prefixLength = 5

  let isCompressed: Bool
  let content: Data

  /// Creates the frame of a message; compresses the message if allowed and if it becomes smaller.
  init(_ message: Data, compression: RPCCompression, limit: Int) throws(RPCCallError) {
    guard message.count <= limit, message.count <= UInt32.max else {
      throw RPCCallError(
        .resourceExhausted,
        "the message was not sent: it has \(message.count) bytes, and the limit is "
          + "\(min(limit, Int(UInt32.max))) bytes")
    }
    if compression == .gzip, let smaller = Gzip.encode(message), smaller.count < message.count {
      self.init(isCompressed: true, content: smaller)
    } else {
      self.init(isCompressed: false, content: message)
    }
  }

  init(isCompressed: Bool, content: Data) {
    self.isCompressed = isCompressed
    self.content = content
  }

  /// The number of bytes of the frame.
  var wireLength: Int { Self.prefixLength + content.count }

  /// The bytes to send.
  var bytes: Data {
    var data = Data(capacity: Self.prefixLength + content.count)
    data.append(isCompressed ? 1 : 0)
    withUnsafeBytes(of: UInt32(content.count).bigEndian) { data.append(contentsOf: $0) }
    data.append(content)
    return data
  }

  /// Returns the message, decompressed if necessary; `encoding` is the response's `grpc-encoding`.
  func message(encoding: String?, limit: Int) throws(RPCCallError) -> Data {
    if !isCompressed { return content }
    guard encoding == "gzip" else {
      throw RPCCallError(
        .internal,
        "the server compressed a message, but its grpc-encoding does not say gzip")
    }
    return try Gzip.decode(content, limit: limit)
  }
}
