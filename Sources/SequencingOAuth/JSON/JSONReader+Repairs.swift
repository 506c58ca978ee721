package import SQFoundation

/// The parsing of a text that the decoder of an app reads too.
extension JSONReader {
  /// A string that had too many combining marks in a row.
  struct Repair {
    /// The place of the string's JSON in the text, with its quotation marks.
    let place: Range<Int>
    /// The repaired string.
    let text: String
  }

  /// The text with the repaired strings, after the whole text was parsed.
  ///
  /// All other bytes stay as they are, because a decoder may read what ``JSONValue`` does not keep,
  /// such as all digits of a long number.
  var repairedText: Data {
    guard !repairs.isEmpty else { return text }
    var repaired = Data()
    var end = text.startIndex
    for repair in repairs {
      repaired += text[end..<text.startIndex + repair.place.lowerBound]
      repaired += JSONWriter.string(repair.text)
      end = text.startIndex + repair.place.upperBound
    }
    return repaired + text[end...]
  }

  /// Parses a whole text with pauses, and returns also the text for a decoder of the app.
  ///
  /// In that text, each string with too many combining marks in a row is repaired. Otherwise the
  /// decoder would hash a member's name, or the app a value, in a time that is the square of its
  /// length.
  package static func repairedWithPauses(
    of text: Data, _ rules: JSONRules, isCancelled: () -> Bool
  ) async throws(JSONFailure) -> (value: JSONValue, text: Data) {
    var reader = try JSONReader(text, rules)
    let value = try await reader.valueWithPauses(isCancelled: isCancelled)
    return (value, reader.repairedText)
  }
}
