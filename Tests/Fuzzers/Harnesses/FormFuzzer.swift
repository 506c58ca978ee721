import FoundationEssentials

@testable import SQBasics
@testable import SequencingOAuth

extension Fuzzer {
  /// A fuzzer for the form encoding of queries and bodies.
  static let form = Fuzzer("form") { input in
    for pair in FormCoding.mend(String(decoding: input, as: UTF8.self)) {
      try require(
        pair.name.isStreamSafe && pair.value.isStreamSafe, "\(pair) has too many marks in a row")
    }
    let text = String(streamSafe: input)
    try checkEncodings(of: text)
    guard let pairs = FormCoding.decode(text) else {
      // The text is valid and stream-safe, so only a percent sign can make it unreadable.
      return try require(text.utf8.contains(UInt8(ascii: "%")), "a plain text is not read")
    }
    for encoded in [FormCoding.encodeBody(pairs), FormCoding.encodeQuery(pairs)] {
      try require(encoded.utf8.allSatisfy(isFormByte), "encoded as \(encoded)")
      guard let again = FormCoding.decode(Substring(encoded)) else {
        throw Finding(description: "what was written is not read: \(encoded)")
      }
      try require(isSame(pairs, again), "what was written reads differently: \(encoded)")
    }
  }

  private static func checkEncodings(of text: String) throws {
    for (encoded, plain) in [
      (FormCoding.encodeValue(text), ""), (FormCoding.encodeCredential(text), "~*"),
      (FormCoding.encodePathSegment(text), ""),
    ] {
      try require(
        encoded.utf8.allSatisfy { isFormByte($0) || plain.utf8.contains($0) },
        "encoded as \(encoded)")
      try require(!encoded.contains("&") && !encoded.contains("="), "encoded as \(encoded)")
      guard let pair = FormCoding.decode("x=" + encoded)?.first else {
        throw Finding(description: "what was written is not read: \(encoded)")
      }
      try require(pair.value.hasSameBytes(as: text), "what was written reads differently")
    }
  }

  private static func isSame(_ first: [FormCoding.Pair], _ second: [FormCoding.Pair]) -> Bool {
    first.count == second.count
      && zip(first, second).allSatisfy {
        $0.name.hasSameBytes(as: $1.name) && $0.value.hasSameBytes(as: $1.value)
      }
  }

  private static func isFormByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "-._%+&=".utf8.contains(byte)
    }
  }
}
