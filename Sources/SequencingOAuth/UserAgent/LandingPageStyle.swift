import SQLoopbackPages

/// The name and the colours of the page that the browser shows at the end of a sign-in.
///
/// Set it in ``ClientEnvironment/landingPage``. The page appears at loopback redirect URIs, where
/// the SDK receives the redirect. With any style it has no script, loads nothing and shows nothing
/// that came with the redirect; the name is shown as text.
///
/// Every colour is allowed. If text in ``accent`` would be hard to read, a darker or lighter shade
/// is used, and text on a background is black or white. The contrast is at least 4.5 to 1 (WCAG
/// 2.2, success criterion 1.4.3) in the browser's light scheme and in its dark one.
public struct LandingPageStyle: Sendable, Hashable {
  /// The app's name, which the page shows and uses in its sentences; `nil` for "the app".
  ///
  /// Control characters and characters that change the direction of text are left out, and the name
  /// is cut at 60 characters.
  public var appName: String?
  /// The colour of the app's sign and of the tick; `nil` for the SDK's green.
  public var accent: PageColor?
  /// The colour behind the card when the browser prefers light pages; `nil` for a light grey.
  public var background: PageColor?
  /// The colour behind the card when the browser prefers dark pages; `nil` for a dark grey.
  public var darkBackground: PageColor?

  /// Makes a style; a part that is left out keeps the SDK's default.
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
  /// The name as the page shows it, or `nil` if nothing of it can be shown.
  var shownName: String? {
    guard let appName else { return nil }
    let scalars = appName.unicodeScalars.lazy.filter(Self.isShown)
    // One character may consist of many scalars, so these are limited too.
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
    // Some scripts and emoji need the joiners.
    case .format: scalar == "\u{200C}" || scalar == "\u{200D}"
    case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
    default: true
    }
  }
}
