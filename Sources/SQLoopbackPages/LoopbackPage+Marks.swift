import SQBasics

extension LoopbackPage {
  /// The SDK's logo: two crossing strands with rungs between them.
  static let helix: HTML = """
    <svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true" fill="none" \
    stroke="currentColor" stroke-width="2" stroke-linecap="round">\
    <path d="M6 2c0 6 12 7 12 10S6 16 6 22"/><path d="M18 2c0 6-12 7-12 10s12 4 12 10"/>\
    <path d="M8 4.5h8M8 19.5h8M10.5 12h3" opacity=".55"/></svg>
    """

  /// The logo on a tile, as a data URL; without an icon, browsers would request one.
  static let icon =
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E"
    + "%3Crect width='32' height='32' rx='8' fill='%230f6b5c'/%3E"
    + "%3Cg transform='translate(4 4)' fill='none' stroke='%23fff' stroke-width='2.4'"
    + " stroke-linecap='round'%3E%3Cpath d='M6 2c0 6 12 7 12 10S6 16 6 22'/%3E"
    + "%3Cpath d='M18 2c0 6-12 7-12 10s12 4 12 10'/%3E%3C/g%3E%3C/svg%3E"
}

extension LoopbackPage.Mark {
  /// The mark in a disc, hidden from screen readers because the heading says the same.
  var markup: HTML {
    switch self {
    case .success: Self.disc("success", "<path d=\"M5 12.5l4.5 4.5L19 7.5\"/>")
    case .failure: Self.disc("failure", "<path d=\"M12 5.5v8.5M12 18.3v.1\"/>")
    case .neutral: Self.disc("neutral", "<path d=\"M6 12h.1M12 12h.1M18 12h.1\"/>")
    case .key:
      Self.disc(
        "neutral",
        "<circle cx=\"8\" cy=\"15.5\" r=\"3.8\"/><path d=\"M10.8 12.7L18.5 5M15 8.5l2.6 2.6\"/>")
    case .person(let name):
      // The style sheet shows the letter. If it were text, a browser without style sheets would
      // show it alone on a line.
      """
      <div class="mark person" aria-hidden="true" \
      data-letter="\(name.prefix(1).uppercased())"></div>
      """
    }
  }

  private static func disc(_ name: HTML, _ drawing: HTML) -> HTML {
    """
    <div class="mark \(name)"><svg viewBox="0 0 24 24" width="32" height="32" aria-hidden="true" \
    fill="none" stroke="currentColor" stroke-width="2.25" stroke-linecap="round" \
    stroke-linejoin="round">\(drawing)</svg></div>
    """
  }
}
