/// The visible text of a page: its heading, and an alert or a paragraph.
struct PageText {
  /// The maximum length of a text in characters, because a page may have any length.
  private static let maximumLength = 200

  /// The text of the first heading, or else the page's title.
  let heading: String?
  /// The text of the alert, or else of the first paragraph after the heading.
  let detail: String?

  init(_ page: String) {
    let start = page.firstRange(of: "<h1")?.lowerBound ?? page.startIndex
    let body = page[start...]
    heading = Self.element("h1", in: body) ?? Self.element("title", in: page[...])
    detail =
      Self.element("div", in: body, with: "role=\"alert\"") ?? Self.element("p", in: body)
  }

  /// Returns the text of the first element that has this name and attribute; `nil` if there is no
  /// such element or no text in it.
  private static func element(
    _ name: String, in page: Substring, with attribute: String = ""
  ) -> String? {
    var rest = page
    while let start = rest.firstRange(of: "<" + name) {
      rest = rest[start.upperBound...]
      let tag = rest.prefix { $0 != ">" }
      guard tag.first ?? " " == " ", attribute.isEmpty || tag.contains(attribute) else { continue }
      let content = rest.dropFirst(tag.count + 1)
      // HTML allows a paragraph to end without a closing tag.
      let end = content.firstRange(of: "</" + name)?.lowerBound ?? content.endIndex
      let words = text(content[..<end])
      return words.isEmpty ? nil : words
    }
    return nil
  }

  /// Returns the text outside the tags.
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

  /// Replaces HTML's escapes with the characters that they stand for.
  static func unescaped(_ text: String) -> String {
    text.replacing("&lt;", with: "<").replacing("&gt;", with: ">")
      .replacing("&quot;", with: "\"").replacing("&#39;", with: "'").replacing("&amp;", with: "&")
  }
}
