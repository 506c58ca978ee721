/// A summary of an HTML page in one line: its heading.
struct HTMLSummary: Sendable {
  /// The most characters of the page that are searched, and of its heading that are shown.
  private static let (mostOfPage, mostOfHeading) = (1 << 16, 200)

  /// The first heading that is not empty, or else the page's title; `nil` if both are missing.
  let heading: String?

  init(_ page: String) {
    let page = String(page.prefix(Self.mostOfPage))
    let headings = page.matches(of: /(?is)<h1\b[^>]*>(.*?)<\/h1>/).map(\.output.1)
    let titles = page.matches(of: /(?is)<title\b[^>]*>(.*?)<\/title>/).map(\.output.1)
    heading = (headings + titles).lazy.map { Self.words(of: $0) }.first { !$0.isEmpty }
  }

  /// The heading for a terminal, with a note that the page of so many bytes is not shown.
  func text(ofBytes count: Int) -> String {
    let note =
      "(An HTML page, \(ByteCount.inWords(Int64(count))). Write to a file or a pipe to get all of it.)"
    return [heading, note].compactMap { $0?.onScreen }.joined(separator: "\n")
  }

  private static func words(of markup: Substring) -> String {
    let words = markup.replacing(/<[^>]*>/, with: "").split(whereSeparator: \.isWhitespace)
      .joined(separator: " ")
      .replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&nbsp;", with: " ")
      .replacing("&quot;", with: "\"").replacing("&#39;", with: "'").replacing("&amp;", with: "&")
    return words.count > mostOfHeading ? words.prefix(mostOfHeading - 1) + "…" : words
  }
}
