/// The fields of a message in protobuf's wire format.
///
/// - SeeAlso: https://protobuf.dev/programming-guides/encoding
enum ProtobufFields {
  enum Value: Equatable {
    case number(UInt64)
    case bytes(ArraySlice<UInt8>)
    /// A number of fixed width, which the server's messages do not contain.
    case fixed
  }

  typealias Field = (number: UInt64, value: Value)

  /// The largest field number.
  private static let largestNumber: UInt64 = 1 << 29 - 1

  /// Reads all fields, in order.
  static func all(in message: ArraySlice<UInt8>) throws(CallStatus) -> [Field] {
    var (rest, fields) = (message, [Field]())
    while !rest.isEmpty {
      let key = try number(&rest)
      guard (1...largestNumber).contains(key >> 3) else { throw malformed }
      fields.append((key >> 3, try value(ofKind: key & 7, &rest)))
    }
    return fields
  }

  private static let malformed = CallStatus.malformed("the message is not well-formed protobuf")

  private static func value(
    ofKind kind: UInt64, _ rest: inout ArraySlice<UInt8>
  ) throws(CallStatus) -> Value {
    switch kind {
    case 0: return .number(try number(&rest))
    case 1:
      _ = try bytes(8, &rest)
      return .fixed
    case 2: return .bytes(try bytes(try number(&rest), &rest))
    case 5:
      _ = try bytes(4, &rest)
      return .fixed
    // Deprecated groups and unknown wire types.
    default: throw malformed
    }
  }

  /// Reads a varint: a number with seven bits in each byte, lowest bits first.
  private static func number(_ rest: inout ArraySlice<UInt8>) throws(CallStatus) -> UInt64 {
    var value: UInt64 = 0
    // Ten bytes hold more than 64 bits; the highest bits are dropped, as protobuf requires.
    for shift in stride(from: UInt64(0), to: 70, by: 7) {
      guard let byte = rest.popFirst() else { throw malformed }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
    }
    throw malformed
  }

  private static func bytes(
    _ count: UInt64, _ rest: inout ArraySlice<UInt8>
  ) throws(CallStatus) -> ArraySlice<UInt8> {
    guard count <= UInt64(rest.count) else { throw malformed }
    defer { rest = rest.dropFirst(Int(count)) }
    return rest.prefix(Int(count))
  }
}

/// A writer of messages in protobuf's wire format.
struct ProtobufWriter {
  private(set) var bytes: [UInt8] = []

  /// Adds a field with a text, unless the text is empty.
  mutating func add(_ number: UInt64, _ text: String) {
    add(number, [UInt8](text.utf8))
  }

  /// Adds a field with bytes or an encoded message, unless the content is empty.
  mutating func add(_ number: UInt64, _ content: [UInt8]) {
    guard !content.isEmpty else { return }
    add(number << 3 | 2)
    add(UInt64(content.count))
    bytes += content
  }

  private mutating func add(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}
