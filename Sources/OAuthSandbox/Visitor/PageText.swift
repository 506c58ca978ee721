/// What a page tells its reader: its heading, and what it says below that.
struct PageText {
  /// Enough for a sentence; a page may be of any length.
  private static let maximumLength = 200

  /// The first heading, or else the title.
  let heading: String?
  /// The alert, or else the first paragraph after the heading.
  let detail: String?

  init(_ page: String) {
    let start = page.firstRange(of: "<h1")?.lowerBound ?? page.startIndex
    let body = page[start...]
    heading = Self.element("h1", in: body) ?? Self.element("title", in: page[...])
    detail =
      Self.element("div", in: body, with: "role=\"alert\"") ?? Self.element("p", in: body)
  }

  /// The text of the first element of a name, whose tag has an attribute; `nil` without any text.
  private static func element(
    _ name: String, in page: Substring, with attribute: String = ""
  ) -> String? {
    var rest = page
    while let start = rest.firstRange(of: "<" + name) {
      rest = rest[start.upperBound...]
      let tag = rest.prefix { $0 != ">" }
      guard tag.first ?? " " == " ", attribute.isEmpty || tag.contains(attribute) else { continue }
      let content = rest.dropFirst(tag.count + 1)
      // HTML lets a paragraph end without its tag.
      let end = content.firstRange(of: "</" + name)?.lowerBound ?? content.endIndex
      let words = text(content[..<end])
      return words.isEmpty ? nil : words
    }
    return nil
  }

  /// The words between the tags.
  private static func text(_ markup: Substring) -> String {
    var words = ""
    var isInTag = false
    for character in markup {
      switch character {
      case "<": isInTag = true
      case ">" where isInTag: isInTag = false
      default: if !isInTag { words.append(character) }
      }
    }
    let line = words.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return String(unescaped(line).prefix(maximumLength))
  }

  /// The characters that escapes of HTML stand for.
  static func unescaped(_ text: String) -> String {
    text.replacing("&lt;", with: "<").replacing("&gt;", with: ">")
      .replacing("&quot;", with: "\"").replacing("&#39;", with: "'").replacing("&amp;", with: "&")
  }
}
