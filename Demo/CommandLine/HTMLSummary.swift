/// What a page of HTML tells a person, in a line or two: its heading and its text.
struct HTMLSummary: Sendable, Equatable {
  /// The most characters of a line, and of a page that are looked at.
  private static let (mostOfLine, mostOfPage) = (300, 1 << 18)
  /// The elements whose content is for no reader.
  private static let unread: Set = ["script", "style", "svg", "template"]
  /// The elements that stand within a line, so that they part no words.
  private static let inline: Set = ["a", "b", "code", "em", "i", "small", "span", "strong"]

  /// The first heading, or else the title, and then the text below; neither where it is empty.
  let lines: [String]

  init(_ page: String) {
    var words = ["title": "", "h1": "", "": ""]
    // The element that is open, of those that are apart from the text.
    var open = ""
    var rest = page.prefix(Self.mostOfPage)
    while !rest.isEmpty {
      let text = Self.takeText(from: &rest, in: open)
      words[open]?.append(contentsOf: text)
      let (name, isEnd) = Self.takeTag(from: &rest)
      if !Self.inline.contains(name) { words[open]?.append(" ") }
      if isEnd, name == open {
        open = ""
      } else if !isEnd, open.isEmpty, Self.unread.contains(name) || words[name]?.isEmpty == true {
        open = name
        // What stands above the heading is the site's name and its links.
        if name == "h1" { words[""] = "" }
      }
    }
    let heading = [words["h1"], words["title"]].compactMap { $0.map(Self.line) }
      .first { !$0.isEmpty }
    lines = [heading ?? "", Self.line(words[""] ?? "")].filter { !$0.isEmpty }
  }

  /// The lines for a terminal, with a word on what is left out of a page of so many bytes.
  func text(ofBytes count: Int) -> String {
    let note =
      "(An HTML page, \(ByteCount.inWords(Int64(count))): a file or a pipe gets all of it.)"
    return (lines + [note]).map(\.printable).joined(separator: "\n")
  }

  /// Takes the text away that stands before the next tag.
  private static func takeText(from rest: inout Substring, in open: String) -> String {
    var text = ""
    while !rest.isEmpty, !isTag(rest, in: open) {
      let run = rest.prefix(1) + rest.dropFirst().prefix { $0 != "<" }
      text += run
      rest = rest[rest.index(rest.startIndex, offsetBy: run.count)...]
    }
    return text
  }

  /// Whether the rest begins with a tag or a comment; a script has none but its own end.
  private static func isTag(_ rest: Substring, in open: String) -> Bool {
    if unread.contains(open) { return rest.prefix(open.count + 2).lowercased() == "</" + open }
    guard rest.first == "<", let next = rest.dropFirst().first else { return false }
    return next.isLetter || next == "/" || next == "!"
  }

  /// Takes the tag or the comment away with which the rest begins; returns the element's name.
  private static func takeTag(from rest: inout Substring) -> (name: String, isEnd: Bool) {
    if rest.hasPrefix("<!--") {
      rest = rest.firstRange(of: "-->").map { rest[$0.upperBound...] } ?? ""
      return ("", false)
    }
    let tag = rest.prefix { $0 != ">" }
    rest = rest[tag.endIndex...].dropFirst()
    // An element that is empty by its tag opens nothing.
    guard !tag.hasSuffix("/") else { return ("br", true) }
    let inner = tag.dropFirst()
    let name = inner.drop { $0 == "/" }.prefix { $0.isLetter || $0.isNumber }
    return (name.lowercased(), inner.hasPrefix("/"))
  }

  /// The words on one line, which ends in an ellipsis where it is cut.
  private static func line(_ words: String) -> String {
    let line = words.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      .replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&nbsp;", with: " ")
      .replacing("&quot;", with: "\"").replacing("&#39;", with: "'").replacing("&amp;", with: "&")
    return line.count > mostOfLine ? line.prefix(mostOfLine - 1) + "…" : line
  }
}
