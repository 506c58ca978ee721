import CCurl

/// Compares what a server sends over HTTP/1.1 with the content that comes of it.
///
/// Behind a chunk's size (RFC 9112, section 7.1.1), and between the blocks of a compressed response,
/// a server may send any number of bytes that are no content. libcurl reads them without a word.
struct WireMeter {
  /// So many bytes may come in any case.
  static let allowance: UInt64 = 1 << 20
  /// So many more may come for each byte of content: a chunk for each byte takes six, and a server
  /// that compresses byte by byte takes about twenty.
  static let bytesEach: UInt64 = 64
  /// A small response is over by then, and is never measured.
  private static let freeReadings = 8

  /// The socket that libcurl reads from; negative before it has named one.
  var socket: Int32 = -1
  private var readings = 0
  private var start: (socket: Int32, bytes: UInt64, content: Int64)?

  /// Takes note that libcurl has read; `received` is the content so far.
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
