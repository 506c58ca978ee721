/// Compares the bytes that come over a connection with the content that they carry.
///
/// A peer may send any number of bytes that are not content: in a chunk's size (RFC 9112, section
/// 7.1.1), between the blocks of a compressed response, in records of TLS, and in frames of HTTP/2
/// (RFC 9113, section 10.5). Each takes time to read, and no protocol sets a limit.
package struct ContentMeter: Sendable {
  /// How many bytes without content may come.
  package static let allowance: Int64 = 1 << 20
  /// How many bytes may come for each byte of content or of a head.
  ///
  /// A chunk for each byte takes six, a record of TLS with a frame for each byte about thirty, and
  /// a server that compresses byte by byte about twenty.
  package static let bytesEach: Int64 = 64
  /// How long a peer takes to earn one byte without content, in nanoseconds.
  ///
  /// That is 4096 bytes in each second, for questions whether this side is still there.
  private static let nanosecondsEach: UInt64 = 1_000_000_000 / 4096

  /// How many bytes came without content; negative while more are expected.
  package private(set) var excess: Int64 = 0
  /// The time up to which bytes are earned.
  private var earnedUntil: UInt64 = 0

  package init() {}

  /// Counts bytes of the connection, at a time of a monotonic clock in nanoseconds.
  package mutating func arrived(_ bytes: Int64, at now: UInt64) {
    excess += bytes
    let earned = now > earnedUntil ? (now - earnedUntil) / Self.nanosecondsEach : 0
    earnedUntil += earned * Self.nanosecondsEach
    justify(Int64(clamping: earned))
  }

  /// Counts content or fields of a head that came or were sent.
  package mutating func carried(_ content: Int64) {
    justify(content * Self.bytesEach)
  }

  /// Lets so many bytes without content come later.
  package mutating func expect(_ bytes: Int64) {
    excess -= bytes
  }

  private mutating func justify(_ bytes: Int64) {
    excess = max(min(excess, 0), excess - bytes)
  }
}
