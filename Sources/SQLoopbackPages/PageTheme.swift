import SQBasics

/// An app's own colours for a page; every text stays readable.
///
/// The style rules contain only numbers, so that no text of the app gets into the style sheet.
package struct PageTheme: Sendable, Hashable {
  /// The card's colours in the style sheet, in the light and the dark scheme.
  private static let cards = (light: PageTint.white, dark: PageTint(0x16, 0x1D, 0x23))

  /// The colour of the mark and other signs.
  ///
  /// If it would make a text hard to read, a readable shade of it is used.
  package var accent: PageTint?
  /// The colour behind the card in the light scheme.
  package var background: PageTint?
  /// The colour behind the card in the dark scheme.
  package var darkBackground: PageTint?

  package init(
    accent: PageTint? = nil, background: PageTint? = nil, darkBackground: PageTint? = nil
  ) {
    self.accent = accent
    self.background = background
    self.darkBackground = darkBackground
  }

  /// The style rules for these colours, to put after the style sheet that they override.
  var rules: HTML {
    let light = accentRules(on: Self.cards.light, .black) + groundRules(background)
    let dark = accentRules(on: Self.cards.dark, .white) + groundRules(darkBackground)
    return """
      @media(prefers-color-scheme:light){:root{\(light)}}
      @media(prefers-color-scheme:dark){:root{\(dark)}}
      """
  }

  /// An icon with a tick on the accent colour, as a data URL; `nil` without an accent.
  var icon: String? {
    guard let accent else { return nil }
    return "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E"
      + "%3Crect width='32' height='32' rx='8' fill='%23\(accent.digits)'/%3E"
      + "%3Cpath d='M9 17l5 5 9-11' fill='none' stroke='%23\(accent.ink.digits)'"
      + " stroke-width='3' stroke-linecap='round' stroke-linejoin='round'/%3E%3C/svg%3E"
  }

  private func accentRules(on card: PageTint, _ end: PageTint) -> String {
    guard let accent else { return "" }
    let tint = card.mixed(with: accent, 0.12)
    let readable = accent.readable(on: [card, tint], towards: end)
    return "--accent:#\(readable.digits);--tint:#\(tint.digits);"
      + "--tile:#\(accent.digits);--on-tile:#\(accent.ink.digits);"
  }

  /// Returns the rules for a background without a gradient, so that text has the same contrast
  /// everywhere.
  private func groundRules(_ ground: PageTint?) -> String {
    guard let ground else { return "" }
    let page = "#\(ground.digits)"
    return "--page:\(page);--glow:\(page);--glow-2:\(page);--on-page:#\(ground.ink.digits);"
  }
}
