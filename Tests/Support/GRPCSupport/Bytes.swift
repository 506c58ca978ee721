/// Correct and incorrect frames of HTTP/2 as bytes.
///
/// - SeeAlso: RFC 9113, sections 4 and 6
enum Bytes {
  /// The types of frames, in the order of their numbers.
  enum Kind: UInt8, Sendable {
    case data, headers, priority, reset, settings, pushPromise, ping, goAway, windowUpdate
    case continuation
  }

  /// The flags of frames.
  ///
  /// Some of them share a bit.
  struct Flags: OptionSet, Sendable {
    let rawValue: UInt8
    static let endStream = Self(rawValue: 1)
    static let acknowledgement = Self(rawValue: 1)
    static let endHeaders = Self(rawValue: 4)
    static let padded = Self(rawValue: 8)
    static let priority = Self(rawValue: 32)
  }

  /// The 24 bytes that a client sends first (RFC 9113, section 3.4).
  static let preface = [UInt8]("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  static func frame(
    _ kind: Kind, _ flags: Flags = [], stream: UInt32 = 0, _ payload: [UInt8] = []
  ) -> [UInt8] {
    frame(type: kind.rawValue, flags: flags.rawValue, stream: stream, payload)
  }

  /// Returns a frame on stream 0 without flags.
  static func frame(_ kind: Kind, _ payload: [UInt8]) -> [UInt8] {
    frame(type: kind.rawValue, payload)
  }

  static func frame(
    type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []
  ) -> [UInt8] {
    number(UInt32(payload.count)).dropFirst() + [type, flags] + number(stream) + payload
  }

  /// Returns a number as four bytes in network order.
  static func number(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  // MARK: Frames of the connection

  /// Returns a SETTINGS frame; each entry is an identifier and a value.
  static func settings(_ entries: (UInt16, UInt32)...) -> [UInt8] {
    frame(
      .settings,
      entries.flatMap { [UInt8($0.0 >> 8), UInt8(truncatingIfNeeded: $0.0)] + number($0.1) })
  }

  static let settingsAcknowledgement = frame(.settings, .acknowledgement)
  /// The server's first frames: its own settings, and the acknowledgement of the client's settings.
  static let start = settings() + settingsAcknowledgement
  static let ping = frame(.ping, [1, 2, 3, 4, 5, 6, 7, 8])

  static func goAway(last: UInt32, code: UInt32 = 0, _ debug: [UInt8] = []) -> [UInt8] {
    frame(.goAway, number(last) + number(code) + debug)
  }

  static func windowUpdate(_ increment: UInt32, stream: UInt32 = 0) -> [UInt8] {
    frame(.windowUpdate, stream: stream, number(increment))
  }

  // MARK: Frames of a stream

  static func reset(_ code: UInt32, stream: UInt32 = 1) -> [UInt8] {
    frame(.reset, stream: stream, number(code))
  }

  static func data(_ content: [UInt8], _ flags: Flags = [], stream: UInt32 = 1) -> [UInt8] {
    frame(.data, flags, stream: stream, content)
  }

  static func headers(
    _ fields: KeyValuePairs<String, String>, _ flags: Flags = .endHeaders, stream: UInt32 = 1
  ) -> [UInt8] {
    frame(.headers, flags, stream: stream, block(fields))
  }

  // MARK: Answers of gRPC

  static func head(stream: UInt32 = 1) -> [UInt8] {
    headers([":status": "200", "content-type": "application/grpc"], stream: stream)
  }

  static func trailers(stream: UInt32 = 1) -> [UInt8] {
    headers(["grpc-status": "0"], [.endHeaders, .endStream], stream: stream)
  }

  /// Returns an uncompressed gRPC message with its prefix of 5 bytes.
  static func message(_ content: [UInt8] = []) -> [UInt8] {
    [0] + number(UInt32(content.count)) + content
  }

  /// Returns a complete answer with one message.
  static func answer(_ content: [UInt8] = [], stream: UInt32 = 1) -> [UInt8] {
    head(stream: stream) + data(message(content), stream: stream) + trailers(stream: stream)
  }

  /// A HEADERS frame that adds a field of 4 kB to the dynamic table, and then repeats this field
  /// 12,000 times with one byte each.
  static let repeatedField = frame(
    .headers, .endHeaders, stream: 1,
    [0x88, 0x40] + literal("x-large") + literal(String(repeating: "a", count: 4000))
      + [UInt8](repeating: 0xBE, count: 12_000))

  // MARK: Header compression

  /// Returns fields as literals with new names that enter no table (RFC 7541, section 6.2.2).
  static func block(_ fields: KeyValuePairs<String, String>) -> [UInt8] {
    fields.flatMap { [0x00] + literal($0) + literal($1) }
  }

  /// Returns a text without Huffman coding (RFC 7541, section 5.2).
  static func literal(_ text: String) -> [UInt8] {
    integer(text.utf8.count, bits: 7) + text.utf8
  }

  /// Encodes a number in a prefix of `bits` bits; `first` has the bits before the prefix (RFC 7541,
  /// section 5.1).
  static func integer(_ value: Int, bits: Int, _ first: UInt8 = 0) -> [UInt8] {
    let largest = 1 << bits - 1
    guard value >= largest else { return [first | UInt8(value)] }
    var bytes = [first | UInt8(largest)]
    var rest = value - largest
    while rest >= 128 {
      bytes.append(UInt8(rest & 127) | 128)
      rest >>= 7
    }
    return bytes + [UInt8(rest)]
  }
}
