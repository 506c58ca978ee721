/// Functions that lay out names and values as a list, one field per line, for the user.
enum Fields {
  private static let indent = 11

  /// Returns a line for each field that has a value, and several lines for a long value.
  static func text(_ fields: [(name: String, value: String?)]) -> String {
    let margin = String(repeating: " ", count: indent)
    return fields.compactMap { name, value in
      value.map { value in
        let start = "  \(name)"
        return start + String(repeating: " ", count: max(1, indent - start.count))
          + TextLayout.wrap(value, width: TextLayout.width - indent)
          .joined(separator: "\n" + margin)
      }
    }.joined(separator: "\n")
  }
}
