import CSQCurl
import SQBasics

/// Counts what libcurl reads from a connection, and compares it with the content.
///
/// libcurl sets no limit to bytes without content; see ``ContentMeter``.
struct WireMeter {
  /// How many more bytes may come over HTTP/2.
  ///
  /// It is the largest window that libcurl opens for a stream: so much content it may hold for a
  /// request that is not at its turn, and so much may come for a request that was given up.
  static let window: Int64 = 32 << 20
  /// After how many reads the bytes are counted: most small responses have ended by then.
  private static let readingsEach = 8

  private var readings = 0
  /// The content that came since the last count, and the part of a request's that was sent.
  private var content: Int64 = 0
  private var meter = ContentMeter()
  /// How many bytes had come at the last count.
  private var last: UInt64?

  /// Counts a read of libcurl, and returns whether far more bytes came than content.
  ///
  /// `more` is the content that came since the last call.
  mutating func isExceeded(at socket: Int32, content more: Int64, allowance: Int64) -> Bool {
    readings += 1
    content += more
    guard readings % Self.readingsEach == 0 else { return meter.excess > allowance }
    let bytes = sq_received_bytes(socket)
    if let last, bytes >= last {
      meter.arrived(Int64(clamping: bytes - last), at: TransferClock.now())
      meter.carried(content)
    }
    last = bytes
    content = 0
    return meter.excess > allowance
  }
}
