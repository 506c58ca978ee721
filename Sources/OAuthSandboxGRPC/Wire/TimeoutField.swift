import SQBasics

/// The value of `grpc-timeout`: one to eight digits and a unit.
///
/// - SeeAlso: gRPC's `doc/PROTOCOL-HTTP2.md`, "Timeout"
enum TimeoutField {
  /// Parses a value, and returns `nil` if it is malformed.
  static func duration(_ text: String) -> Duration? {
    let digits = text.utf8.dropLast()
    guard (1...8).contains(digits.count), digits.allSatisfy(\.isDigit),
      let number = Int64(String(decoding: digits, as: UTF8.self))
    else { return nil }
    switch text.utf8.last {
    case UInt8(ascii: "H"): return .seconds(number * 3600)
    case UInt8(ascii: "M"): return .seconds(number * 60)
    case UInt8(ascii: "S"): return .seconds(number)
    case UInt8(ascii: "m"): return .milliseconds(number)
    case UInt8(ascii: "u"): return .microseconds(number)
    case UInt8(ascii: "n"): return .nanoseconds(number)
    default: return nil
    }
  }
}
