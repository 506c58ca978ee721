import CCurl

/// Compares the bytes that come over a connection with the content that they carry.
///
/// After a chunk's size (RFC 9112, section 7.1.1), between the blocks of a compressed response, and
/// in frames of HTTP/2 (RFC 9113, section 10.5), a server may send any number of bytes that are not
/// content. libcurl reads them and sets no limit.
struct WireMeter {
  /// How many bytes without content may come.
  static let allowance: Int64 = 1 << 20
  /// How many more bytes may come over HTTP/2.
  ///
  /// It is the largest window that libcurl opens for a stream: so much content it may hold for a
  /// request that is not at its turn, and so much may come for a request that was given up.
  static let window: Int64 = 32 << 20
  /// How many bytes may come for each byte of content or of a head.
  ///
  /// A chunk for each byte takes six, and a server that compresses byte by byte takes about twenty.
  static let bytesEach: Int64 = 64
  /// How many bytes without content may come in each second, such as questions whether the client
  /// is still there.
  static let bytesPerSecond: UInt64 = 4096
  /// After how many reads the bytes are counted: most small responses have ended by then.
  private static let readingsEach = 8

  private var readings = 0
  /// The content that came since the last count, and the part of a request's that was sent.
  private var content: Int64 = 0
  /// How many bytes came without content.
  private var excess: Int64 = 0
  private var last: (bytes: UInt64, time: UInt64)?

  /// Counts a read of libcurl, and returns whether far more bytes came than content.
  ///
  /// `more` is the content that came since the last call.
  mutating func isExceeded(at socket: Int32, content more: Int64, allowance: Int64) -> Bool {
    readings += 1
    content += more
    guard readings % Self.readingsEach == 0 else { return excess > allowance }
    let now = (bytes: sq_received_bytes(socket), time: TransferClock.now())
    if let last, now.bytes >= last.bytes {
      let free = (now.time &- last.time) / 1_000_000_000 * Self.bytesPerSecond
      let justified = content * Self.bytesEach + Int64(clamping: free)
      excess = max(0, excess + Int64(clamping: now.bytes - last.bytes) - justified)
    }
    last = now
    content = 0
    return excess > allowance
  }
}
