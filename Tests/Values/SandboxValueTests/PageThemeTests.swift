import SQBasics
import Testing

@testable import SQLoopbackPages

/// The pages stay readable with any colour of an app, in the light and the dark scheme.
@Suite struct PageThemeTests {
  /// A grid of colours over the whole RGB cube, with its corners.
  static let colors =
    [0, 0x33, 0x66, 0x7F, 0x99, 0xCC, 0xFF].flatMap { red in
      [0, 0x33, 0x66, 0x7F, 0x99, 0xCC, 0xFF].flatMap { green in
        [0, 0x55, 0x80, 0xAA, 0xFF].map { PageTint(red, green, $0) }
      }
    } as [PageTint]

  /// Returns the custom properties of one scheme, read from the rules as a browser would.
  static func properties(_ theme: PageTheme, dark: Bool) throws -> [String: PageTint] {
    let scheme = dark ? "dark" : "light"
    let rules = theme.rules.markup
    let start = try #require(rules.firstRange(of: "(prefers-color-scheme:\(scheme)){:root{"))
    let body = rules[start.upperBound...].prefix { $0 != "}" }
    return try Dictionary(
      uniqueKeysWithValues: body.split(separator: ";").map { rule in
        let parts = rule.split(separator: ":", maxSplits: 1).map(String.init)
        let number = try #require(UInt32(parts[1].dropFirst(), radix: 16))
        return (
          parts[0],
          PageTint(
            UInt8(number >> 16 & 0xFF), UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF))
        )
      })
  }

  @Test(arguments: [false, true])
  func `the accent is readable on the card and its tint, and symbols are readable on the accent`(
    dark: Bool
  ) throws {
    let card = dark ? PageTint(0x16, 0x1D, 0x23) : PageTint(0xFF, 0xFF, 0xFF)
    for color in Self.colors {
      let found = try Self.properties(PageTheme(accent: color), dark: dark)
      let (accent, tint) = (try #require(found["--accent"]), try #require(found["--tint"]))
      #expect(accent.contrast(to: card) >= 4.5 && accent.contrast(to: tint) >= 4.5, "\(color)")
      let (tile, sign) = (try #require(found["--tile"]), try #require(found["--on-tile"]))
      #expect(tile == color && tile.contrast(to: sign) >= 4.5, "\(color)")
    }
  }

  @Test(arguments: [false, true])
  func `the brand name is readable on any background colour`(dark: Bool) throws {
    for color in Self.colors {
      let theme = PageTheme(background: dark ? nil : color, darkBackground: dark ? color : nil)
      let found = try Self.properties(theme, dark: dark)
      let (page, name) = (try #require(found["--page"]), try #require(found["--on-page"]))
      #expect(page == color && page.contrast(to: name) >= 4.5, "\(color)")
      #expect(found["--glow"] == color && found["--glow-2"] == color)
      #expect(
        try Self.properties(theme, dark: !dark).isEmpty,
        "the other scheme keeps its default colours")
    }
  }

  @Test func `a readable colour stays as it is`() throws {
    let color = PageTint(0x0F, 0x6B, 0x5C)
    #expect(try Self.properties(PageTheme(accent: color), dark: false)["--accent"] == color)
  }

  /// On white, one of the two greys has a contrast just below 4.5, and the other just above.
  @Test(arguments: [
    (PageTint(0, 0, 0), PageTint(255, 255, 255), 21.0),
    (PageTint(0x77, 0x77, 0x77), PageTint(255, 255, 255), 4.48),
    (PageTint(0x76, 0x76, 0x76), PageTint(255, 255, 255), 4.54),
    (PageTint(255, 0, 0), PageTint(255, 255, 255), 4.0),
    (PageTint(1, 2, 3), PageTint(1, 2, 3), 1.0),
  ])
  func `contrast is measured as WCAG defines it`(first: PageTint, second: PageTint, ratio: Double) {
    #expect(abs(first.contrast(to: second) - ratio) < 0.01)
    #expect(first.contrast(to: second) == second.contrast(to: first))
  }

  @Test func `the style rules of a theme contain only safe characters`() {
    let theme = PageTheme(
      accent: PageTint(1, 2, 3), background: PageTint(4, 5, 6), darkBackground: PageTint(7, 8, 9))
    let allowed = Set("abcdefghijklmnopqrstuvwxyz0123456789#:;-(){}@\n")
    #expect(theme.rules.markup.allSatisfy(allowed.contains))
  }
}
