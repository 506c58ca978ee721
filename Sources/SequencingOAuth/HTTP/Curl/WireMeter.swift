import CCurl

/// Compares the bytes that a server sends over HTTP/1.1 with the content that they carry.
///
/// After a chunk's size (RFC 9112, section 7.1.1) and between the blocks of a compressed response,
/// a server may send any number of bytes that are not content. libcurl reads them and sets no
/// limit.
struct WireMeter {
  /// How many bytes may come for any response.
  static let allowance: UInt64 = 1 << 20
  /// How many more bytes may come for each byte of content.
  ///
  /// A chunk for each byte takes six, and a server that compresses byte by byte takes about twenty.
  static let bytesEach: UInt64 = 64
  /// After how many reads the measuring starts; most small responses have ended by then.
  private static let freeReadings = 8

  /// The socket that libcurl reads from; negative before it has named one.
  var socket: Int32 = -1
  private var readings = 0
  private var start: (socket: Int32, bytes: UInt64, content: Int64)?

  /// Counts a read of libcurl and returns whether the server has sent far more bytes than content.
  ///
  /// `received` is the number of bytes of content so far.
  mutating func isExceeded(received: Int64) -> Bool {
    readings += 1
    guard readings > Self.freeReadings, socket >= 0 else { return false }
    let bytes = sq_received_bytes(socket)
    guard let start, start.socket == socket, bytes >= start.bytes else {
      start = (socket, bytes, received)
      return false
    }
    let content = UInt64(max(received - start.content, 0))
    let (allowed, isUnbounded) = content.multipliedReportingOverflow(by: Self.bytesEach)
    return !isUnbounded && bytes - start.bytes > allowed &+ Self.allowance
  }
}
