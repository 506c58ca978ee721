extension JSONReader {
  /// Parses a number, in any notation; the value is an integer if it is whole and fits an `Int64`.
  mutating func number(in bytes: UnsafeRawBufferPointer) throws(JSONFailure) -> JSONValue {
    var end = index
    let isNegative = bytes[end] == UInt8(ascii: "-")
    if isNegative { end += 1 }
    let whole = Self.digits(in: bytes, from: end)
    guard !whole.isEmpty, whole.count == 1 || bytes[whole.lowerBound] != UInt8(ascii: "0") else {
      throw .malformed(at: index)
    }
    end = whole.upperBound
    var fraction = end..<end
    if end < bytes.count, bytes[end] == UInt8(ascii: ".") {
      fraction = Self.digits(in: bytes, from: end + 1)
      guard !fraction.isEmpty else { throw .malformed(at: index) }
      end = fraction.upperBound
    }
    var exponent = 0
    if end < bytes.count, bytes[end] | 0x20 == UInt8(ascii: "e") {
      end += 1
      let sign = end < bytes.count ? bytes[end] : 0
      if sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { end += 1 }
      let digits = Self.digits(in: bytes, from: end)
      guard !digits.isEmpty else { throw .malformed(at: index) }
      end = digits.upperBound
      // More than 18 digits may overflow an `Int`. An exponent of 18 digits already exceeds the
      // length of any text, so further digits change nothing.
      exponent = bytes[digits].drop { $0 == UInt8(ascii: "0") }.prefix(18)
        .reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
      if sign == UInt8(ascii: "-") { exponent = -exponent }
    }
    defer { index = end }
    if let value = Self.integer(
      bytes, isNegative: isNegative, whole, fraction, exponent: exponent)
    {
      return .integer(value)
    }
    let text = String(decoding: UnsafeRawBufferPointer(rebasing: bytes[index..<end]), as: UTF8.self)
    if rules.keepsDigits, end == whole.upperBound { return .string(text) }
    guard let value = Double(text), value.isFinite else { throw .malformed(at: index) }
    return .number(value)
  }

  private static func digits(in bytes: UnsafeRawBufferPointer, from start: Int) -> Range<Int> {
    var end = start
    while end < bytes.count, bytes[end] &- UInt8(ascii: "0") < 10 { end += 1 }
    return start..<max(start, end)
  }

  /// Returns the exact value of a number that has no fraction and fits; `nil` for other numbers.
  private static func integer(
    _ bytes: UnsafeRawBufferPointer, isNegative: Bool, _ whole: Range<Int>, _ fraction: Range<Int>,
    exponent: Int
  ) -> Int64? {
    var value: Int64 = 0
    /// Appends a digit to the value, and returns whether the value still fits.
    func append(_ digit: Int64) -> Bool {
      let (tens, isTooLarge) = value.multipliedReportingOverflow(by: 10)
      let (sum, isTooLargeToo) =
        isNegative ? tens.subtractingReportingOverflow(digit) : tens.addingReportingOverflow(digit)
      value = sum
      return !isTooLarge && !isTooLargeToo
    }
    // The number of digits before the decimal point, after the exponent has moved it.
    let count = whole.count + exponent
    var position = 0
    for range in [whole, fraction] {
      for byte in bytes[range] {
        let digit = Int64(byte - UInt8(ascii: "0"))
        if position < count {
          guard append(digit) else { return nil }
        } else if digit != 0 {
          return nil
        }
        position += 1
      }
    }
    while position < count, value != 0 {
      guard append(0) else { return nil }
      position += 1
    }
    return value
  }
}
