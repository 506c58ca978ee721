import Foundation

@testable import GRPCSupport

/// The fields of a protobuf message: numbers, and bytes for texts and nested messages.
///
/// - SeeAlso: https://protobuf.dev/programming-guides/encoding
struct WireFields {
  private enum Value {
    case number(UInt64)
    case bytes(Data)
  }

  private var values: [(field: UInt64, value: Value)] = []

  init() {}

  // MARK: Writing

  /// Adds a number, or nothing for the default value zero.
  mutating func set(_ field: UInt64, _ number: Int) {
    if number != 0 { values.append((field, .number(UInt64(number)))) }
  }

  /// Adds a bool, or nothing for the default value false.
  mutating func set(_ field: UInt64, _ flag: Bool) {
    set(field, flag ? 1 : 0)
  }

  /// Adds a text, or nothing for the default value of an empty text.
  mutating func set(_ field: UInt64, _ text: String) {
    if !text.isEmpty { values.append((field, .bytes(Data(text.utf8)))) }
  }

  /// Adds bytes, or nothing for the default value of no bytes.
  mutating func set(_ field: UInt64, _ bytes: Data) {
    if !bytes.isEmpty { values.append((field, .bytes(bytes))) }
  }

  /// Adds a nested message, even without fields, or nothing for `nil`.
  mutating func set(_ field: UInt64, _ message: WireFields?) {
    if let message { values.append((field, .bytes(message.bytes))) }
  }

  /// The encoded message.
  var bytes: Data {
    var data = Data()
    for (field, value) in values {
      switch value {
      case .number(let number):
        Self.append(field << 3, to: &data)
        Self.append(number, to: &data)
      case .bytes(let bytes):
        Self.append(field << 3 | 2, to: &data)
        Self.append(UInt64(bytes.count), to: &data)
        data += bytes
      }
    }
    return data
  }

  private static func append(_ number: UInt64, to data: inout Data) {
    var rest = number
    while rest >= 0x80 {
      data.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    data.append(UInt8(rest))
  }

  // MARK: Reading

  /// Decodes a message.
  ///
  /// Throws if a field has an unknown type or the message is incomplete.
  init(_ bytes: Data) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let key = try Self.takeNumber(&rest)
      let number = try Self.takeNumber(&rest)
      switch key & 7 {
      case 0: values.append((key >> 3, .number(number)))
      case 2:
        guard number <= UInt64(rest.count) else { throw DecodingFailed() }
        values.append((key >> 3, .bytes(Data(rest.prefix(Int(number))))))
        rest = rest.dropFirst(Int(number))
      default: throw DecodingFailed()
      }
    }
  }

  private static func takeNumber(_ rest: inout Data) throws -> UInt64 {
    var number: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 70, by: 7) {
      guard let byte = rest.popFirst() else { throw DecodingFailed() }
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return number }
    }
    throw DecodingFailed()
  }

  /// Returns a number, or 0 without the field.
  func number(_ field: UInt64) -> Int {
    for case (field, .number(let number)) in values { return Int(number) }
    return 0
  }

  /// Returns bytes, or none without the field.
  func bytes(_ field: UInt64) -> Data {
    for case (field, .bytes(let bytes)) in values { return bytes }
    return Data()
  }

  /// Returns a nested message, or an empty one without the field.
  func message(_ field: UInt64) throws -> WireFields {
    try WireFields(bytes(field))
  }

  /// Returns a text, or an empty one without the field.
  func text(_ field: UInt64) -> String { bytes(field).text }
}
