import FoundationEssentials

@testable import SQBasics
@testable import SequencingOAuth

extension Fuzzer {
  /// A fuzzer for JSON, read strictly as in signed texts, and leniently as in a server's responses.
  static let json = Fuzzer("json") { input in
    let value = try? JSONReader.value(of: input)
    let strict = try? JSONReader.value(of: input, .signed)
    try require(strict == nil || strict == value, "the two ways to read differ")
    try requirePieces(input, value)
    try requireStreamSafe(value)
    try requireRepairedText(input, value)
    if let strict { try requireCodable(strict, "the value") }
    // Foundation also reads UTF-16 and UTF-32. JSON in those encodings has zero bytes.
    guard !input.contains(0), let other = try? JSONDecoder().decode(JSONValue.self, from: input)
    else { return }
    try require(
      (try? JSONReader.value(of: input, .own)) != nil, "it is not read, though it is JSON")
    try require(strict == nil || strict == other, "Foundation reads it differently")
  }

  /// Requires that no string has too many combining marks in a row.
  private static func requireStreamSafe(_ value: JSONValue?) throws {
    switch value {
    case .string(let text):
      try require(text.isStreamSafe, "a string has too many marks in a row")
    case .array(let elements):
      for element in elements { try requireStreamSafe(element) }
    case .object(let members):
      for (name, member) in members {
        try require(name.isStreamSafe, "a name has too many marks in a row")
        try requireStreamSafe(member)
      }
    default: break
    }
  }

  /// Requires that the text for an app's decoder has the same value, and needs no repair.
  private static func requireRepairedText(_ input: Data, _ value: JSONValue?) throws {
    guard value != nil else { return }
    var reader = try JSONReader(input, .message)
    _ = try reader.read(atMost: .max)
    var again = try JSONReader(reader.repairedText, .message)
    let other = try again.read(atMost: .max)
    try require(other == value && again.repairs.isEmpty, "the repaired text differs")
  }

  /// Requires that a text gives the same value if it is read in pieces.
  private static func requirePieces(_ input: Data, _ value: JSONValue?) throws {
    guard var reader = try? JSONReader(input, .message) else { return }
    var pieces: JSONValue?
    do throws(JSONFailure) {
      while pieces == nil { pieces = try reader.read(atMost: 3) }
    } catch {
      pieces = nil
    }
    try require(pieces == value, "it is another value when it is read in pieces")
  }
}
