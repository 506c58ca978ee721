import SQBasics

/// A summary of an HTML page in one line: its heading.
///
/// The page comes from a server and may be hostile, so each search takes only linear time.
struct HTMLSummary: Sendable {
  /// The maximum number of bytes of the page to search, and of characters of its heading to show.
  private static let (mostOfPage, mostOfHeading) = (1 << 16, 200)

  /// The first heading with text, or else the page's title; `nil` if both are missing.
  let heading: String?

  init(_ page: String) {
    let page = Array(page.utf8.prefix(Self.mostOfPage))
    heading = Self.words(ofFirst: "h1", in: page) ?? Self.words(ofFirst: "title", in: page)
  }

  /// Returns the heading for a terminal, with a note that the page of `count` bytes is not shown.
  func text(ofBytes count: Int) -> String {
    let note =
      "(An HTML page, \(ByteCount.inWords(Int64(count))). Write to a file or a pipe to get all of it.)"
    return [heading, note].compactMap { $0?.onScreen }.joined(separator: "\n")
  }

  /// Returns the text of the first non-empty element with this name, or `nil` if there is none.
  private static func words(ofFirst name: String, in page: [UInt8]) -> String? {
    var rest = page[...]
    while let start = rest.end(of: "<\(name)") {
      rest = page[start...]
      // Skip a tag with a longer name, such as <title-bar>.
      guard let next = rest.first, !next.isOfName else { continue }
      // If this tag or element has no end, no later element has an end.
      guard let content = rest.end(of: ">"), let end = page[content...].end(of: "</\(name)>") else {
        return nil
      }
      let words = words(of: page[content..<end - name.utf8.count - 3])
      if !words.isEmpty { return words }
      rest = page[end...]
    }
    return nil
  }

  private static func words(of markup: ArraySlice<UInt8>) -> String {
    let words = String(streamSafe: markup.withoutTags)
      .split(whereSeparator: \.isWhitespace).joined(separator: " ")
      .replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&nbsp;", with: " ")
      .replacing("&quot;", with: "\"").replacing("&#39;", with: "'").replacing("&amp;", with: "&")
    return words.count > mostOfHeading ? words.prefix(mostOfHeading - 1) + "…" : words
  }
}

extension ArraySlice<UInt8> {
  /// Returns the index after the first occurrence of a lower-case ASCII text, ignoring case.
  fileprivate func end(of text: String) -> Int? {
    let text = Array<UInt8>(text.utf8)
    guard count >= text.count else { return nil }
    return (startIndex...endIndex - text.count).first { start in
      text.indices.allSatisfy { self[start + $0].lowercased == text[$0] }
    }.map { $0 + text.count }
  }

  /// The bytes outside tags; a tag without an end counts as text.
  fileprivate var withoutTags: [UInt8] {
    var text: [UInt8] = []
    var rest = self
    while let start = rest.firstIndex(of: UInt8(ascii: "<")),
      let end = rest[start...].firstIndex(of: UInt8(ascii: ">"))
    {
      text += rest[..<start]
      rest = rest[(end + 1)...]
    }
    return text + rest
  }
}

extension UInt8 {
  fileprivate var lowercased: UInt8 { (0x41...0x5A).contains(self) ? self + 0x20 : self }

  /// Whether a byte may be part of an element's name.
  fileprivate var isOfName: Bool {
    isAlphanumeric || self == UInt8(ascii: "-") || self >= 0x80
  }
}
