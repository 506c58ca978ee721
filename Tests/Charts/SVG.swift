/// Writes the elements of an SVG picture.
enum SVG {
  /// Returns an element, empty or with content that is already escaped.
  static func element(
    _ name: String, _ attributes: KeyValuePairs<String, String>, content: String? = nil
  ) -> String {
    let list = attributes.map { " \($0.key)=\"\(escaped($0.value))\"" }.joined()
    return "<\(name)\(list)" + (content.map { ">\($0)</\(name)>" } ?? "/>")
  }

  /// Returns a length in pixels, rounded to a tenth.
  static func number(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    let size = tenths.magnitude
    let digits = size.isMultiple(of: 10) ? "\(size / 10)" : "\(size / 10).\(size % 10)"
    return tenths < 0 ? "-" + digits : digits
  }

  static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.append(character)
      }
    }
    return result
  }
}
