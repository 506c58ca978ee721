import CSQCurl
import SQBasics

/// A counter of the bytes that libcurl reads from a connection and that are not content.
///
/// libcurl does not limit such bytes; see `ContentMeter`.
struct WireMeter {
  /// The number of bytes that may arrive over HTTP/2 in addition to `ContentMeter.allowance`.
  ///
  /// It is the largest window that libcurl opens for a stream. libcurl may hold that much content
  /// for a request whose response is not read yet.
  static let window: Int64 = 32 << 20
  /// The number of reads between two counts; most small responses end before the first count.
  private static let readingsEach = 8

  private var readings = 0
  /// The content since the last count: the bytes received, and the part of a request that was sent.
  private var content: Int64 = 0
  private var meter = ContentMeter()
  /// The number of bytes that had arrived at the last count.
  private var last: UInt64?

  /// Counts a read by libcurl, and returns whether more than `allowance` bytes are not content.
  ///
  /// `more` is the number of content bytes since the last call.
  mutating func isExceeded(at socket: Int32, content more: Int64, allowance: Int64) -> Bool {
    readings += 1
    content += more
    guard readings % Self.readingsEach == 0 else { return meter.excess > allowance }
    let bytes = sq_received_bytes(socket)
    if let last, bytes >= last {
      meter.arrived(Int64(clamping: bytes - last), at: Monotonic.now())
      meter.carried(content)
    }
    last = bytes
    content = 0
    return meter.excess > allowance
  }

  /// Allows bytes that may still arrive for an abandoned transfer.
  mutating func expect(_ bytes: Int64) { meter.expect(bytes) }
}
