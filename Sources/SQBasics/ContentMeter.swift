/// A meter of the bytes that arrive on a connection without being content.
///
/// A peer can send any number of bytes that are not content: in a chunk's size line (RFC 9112,
/// section 7.1.1), between the blocks of a compressed response, in TLS records and in HTTP/2 frames
/// (RFC 9113, section 10.5). Reading them takes time, and no protocol limits them.
package struct ContentMeter: Sendable {
  /// The maximum number of bytes that may arrive without content.
  package static let allowance: Int64 = 1 << 20
  /// The maximum number of bytes that may arrive for each byte of content or of a head.
  ///
  /// A server may send each byte of content on its own. In a chunk, this takes six bytes; in a
  /// compressed block, about twenty; in a frame inside a TLS record, about thirty.
  package static let bytesEach: Int64 = 64
  /// The time after which one more byte without content is allowed, in nanoseconds.
  ///
  /// This allows 4096 bytes per second, for example for pings.
  private static let nanosecondsEach: UInt64 = 1_000_000_000 / 4096

  /// The number of bytes that arrived without content; negative while ``expect(_:)`` allows more.
  package private(set) var excess: Int64 = 0
  /// The time up to which the allowance per second has been counted, in nanoseconds.
  private var earnedUntil: UInt64 = 0

  package init() {}

  /// Counts bytes that arrived on the connection.
  ///
  /// The time `now` is in nanoseconds on a monotonic clock.
  package mutating func arrived(_ bytes: Int64, at now: UInt64) {
    excess += bytes
    let earned = now > earnedUntil ? (now - earnedUntil) / Self.nanosecondsEach : 0
    earnedUntil += earned * Self.nanosecondsEach
    justify(Int64(clamping: earned))
  }

  /// Counts bytes of content, or of a head's fields, that were received or sent.
  package mutating func carried(_ content: Int64) {
    justify(content * Self.bytesEach)
  }

  /// Allows `bytes` more bytes without content to arrive later.
  package mutating func expect(_ bytes: Int64) {
    excess -= bytes
  }

  private mutating func justify(_ bytes: Int64) {
    excess = max(min(excess, 0), excess - bytes)
  }
}
