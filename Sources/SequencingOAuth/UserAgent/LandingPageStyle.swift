import SQLoopbackPages

/// The name and the colors of the page that the browser shows at the end of a sign-in.
///
/// Set it in ``ClientEnvironment/landingPage``. The page appears at loopback redirect URIs, where
/// the SDK receives the redirect. With any style, the page has no script, loads nothing and shows
/// no content of the redirect; the name is shown as text.
///
/// All colors are allowed. If text in the ``accent`` color would be hard to read, a darker or
/// lighter shade is used. Text on a background is black or white. The contrast is at least 4.5 to 1
/// (WCAG 2.2, success criterion 1.4.3) in both the light and the dark scheme of the browser.
public struct LandingPageStyle: Sendable, Hashable {
  /// The app's name on the page and in its sentences; `nil` for "the app".
  ///
  /// Control characters and characters that change the text direction are removed, and the name is
  /// cut after 60 characters.
  public var appName: String?
  /// The color of the tile with the app's initial and of the check mark; `nil` for the SDK's green.
  public var accent: PageColor?
  /// The page's background in the browser's light scheme; `nil` for a light gray.
  public var background: PageColor?
  /// The page's background in the browser's dark scheme; `nil` for a dark gray.
  public var darkBackground: PageColor?

  /// Creates a style; omitted parts have the SDK's default.
  public init(
    appName: String? = nil, accent: PageColor? = nil, background: PageColor? = nil,
    darkBackground: PageColor? = nil
  ) {
    self.appName = appName
    self.accent = accent
    self.background = background
    self.darkBackground = darkBackground
  }
}

extension LandingPageStyle {
  /// The name as the page shows it; `nil` if no character can be shown.
  var shownName: String? {
    guard let appName else { return nil }
    let scalars = appName.unicodeScalars.lazy.filter(Self.isShown)
    // A character may consist of many scalars, so these are limited too.
    let words = String(String.UnicodeScalarView(scalars.prefix(240))).split(separator: " ")
    let name = words.joined(separator: " ")
    return name.isEmpty ? nil : String(name.prefix(60))
  }

  var theme: PageTheme {
    PageTheme(
      accent: accent?.tint, background: background?.tint, darkBackground: darkBackground?.tint)
  }

  private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    // Some scripts and emoji need these joiners.
    case .format: scalar == "\u{200C}" || scalar == "\u{200D}"
    case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
    default: true
    }
  }
}
