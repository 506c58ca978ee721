/// The fields of a message in protobuf's wire format.
///
/// - SeeAlso: https://protobuf.dev/programming-guides/encoding
enum ProtobufFields {
  enum Value: Equatable {
    case number(UInt64)
    case bytes(ArraySlice<UInt8>)
    /// A number of a fixed width, which no message of the server has.
    case fixed
  }

  typealias Field = (number: UInt64, value: Value)

  /// The largest number of a field.
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
    // Groups, which protobuf has given up, or no kind at all.
    default: throw malformed
    }
  }

  /// Takes a number with seven bits in each byte, the lowest bits first.
  private static func number(_ rest: inout ArraySlice<UInt8>) throws(CallStatus) -> UInt64 {
    var value: UInt64 = 0
    // Ten bytes have more than 64 bits; the highest are dropped, as protobuf requires.
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

/// Writes a message in protobuf's wire format.
struct ProtobufWriter {
  private(set) var bytes: [UInt8] = []

  /// Adds a field with a text; an empty text is left out.
  mutating func add(_ number: UInt64, _ text: String) {
    add(number, [UInt8](text.utf8))
  }

  /// Adds a field with bytes, or with the bytes of a message; empty ones are left out.
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
