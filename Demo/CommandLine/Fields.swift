/// Names and values below each other, for a person.
enum Fields {
  private static let indent = 11
  private static let width = 80

  /// The fields that have a value, a line each; a long value goes on below itself.
  static func text(_ fields: [(name: String, value: String?)]) -> String {
    let margin = String(repeating: " ", count: indent)
    return fields.compactMap { name, value in
      value.map { value in
        let start = "  \(name)"
        return start + String(repeating: " ", count: max(1, indent - start.count))
          + TextLayout.wrap(value, width: width - indent).joined(separator: "\n" + margin)
      }
    }.joined(separator: "\n")
  }
}
