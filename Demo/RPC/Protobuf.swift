import SQBasics
import SQFoundation

/// The part of protobuf's wire format that the demo's two small messages need.
///
/// A message is a sequence of fields, each with a number, a kind and a value.
///
/// - SeeAlso: https://protobuf.dev/programming-guides/encoding
enum Protobuf {
  /// The error for bytes that are not a message.
  struct Malformed: Error {}

  enum Value: Equatable {
    case number(UInt64)
    case bytes(Data)
    /// A number of fixed width; the demo's messages contain none.
    case fixed
  }

  // MARK: Writing

  /// Encodes a `bool` field, and leaves out the value `false`.
  static func field(_ number: UInt64, _ value: Bool) -> Data {
    value ? varint(number << 3) + varint(1) : Data()
  }

  /// Encodes a `string` field, and leaves out an empty text.
  static func field(_ number: UInt64, _ value: String) -> Data {
    let bytes = Data(value.utf8)
    return bytes.isEmpty ? bytes : varint(number << 3 | 2) + varint(UInt64(bytes.count)) + bytes
  }

  /// Encodes a number with seven bits in each byte, lowest bits first.
  ///
  /// The highest bit of a byte says that another byte follows.
  private static func varint(_ value: UInt64) -> Data {
    var (data, rest) = (Data(), value)
    while rest >= 0x80 {
      data.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    return data + [UInt8(rest)]
  }

  // MARK: Reading

  /// Decodes the fields of a message by number; if a field occurs twice, the last value counts.
  static func fields(_ message: Data) throws -> [UInt64: Value] {
    var fields: [UInt64: Value] = [:]
    var rest = message[...]
    while !rest.isEmpty {
      let key = try takeVarint(&rest)
      fields[key >> 3] = try takeValue(kind: key & 7, &rest)
    }
    return fields
  }

  private static func takeValue(kind: UInt64, _ rest: inout Data) throws -> Value {
    switch kind {
    case 0:
      return .number(try takeVarint(&rest))
    case 1:
      _ = try take(8, &rest)
      return .fixed
    case 2:
      return .bytes(try take(try takeVarint(&rest), &rest))
    case 5:
      _ = try take(4, &rest)
      return .fixed
    default:
      throw Malformed()
    }
  }

  private static func takeVarint(_ rest: inout Data) throws -> UInt64 {
    var value: UInt64 = 0
    // Ten bytes hold more than 64 bits; the highest bits are dropped, as protobuf requires.
    for shift in stride(from: UInt64(0), to: 70, by: 7) {
      guard let byte = rest.popFirst() else { throw Malformed() }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
    }
    throw Malformed()
  }

  private static func take(_ count: UInt64, _ rest: inout Data) throws -> Data {
    guard count <= UInt64(rest.count) else { throw Malformed() }
    let taken = Data(rest.prefix(Int(count)))
    rest = rest.dropFirst(Int(count))
    return taken
  }
}

extension Protobuf.Value {
  /// Whether the value of a `bool` field is `true`.
  var isTrue: Bool { self != .number(0) }

  /// Returns the text of a `string` field.
  func text() throws -> String {
    guard case .bytes(let bytes) = self, let text = String(validating: bytes, as: UTF8.self) else {
      throw Protobuf.Malformed()
    }
    return text.streamSafe
  }
}
