import LoopbackPages

/// The name and the colours of the last page of a sign-in, which the browser shows after the redirect.
///
/// Set ``ClientEnvironment/landingPage``. The page appears at loopback redirect URIs, where the SDK
/// receives the redirect. It has no script, loads nothing and shows nothing that came with the
/// redirect, whatever is set here; the name is shown as text.
///
/// Any colour will do: text that could not be read in ``accent`` is written in a darker or lighter
/// shade of it, and text on a background in black or white. The contrast is 4.5 to 1 or more (WCAG
/// 2.2, success criterion 1.4.3) in the browser's light scheme and in its dark one.
public struct LandingPageStyle: Sendable, Hashable {
  /// The app's name, which the page shows and says in its sentences; `nil` for "the app".
  ///
  /// Control characters and those that change a text's direction are left out, and what is longer
  /// than 60 characters is cut.
  public var appName: String?
  /// The colour of the app's sign and of the tick; `nil` for the SDK's green.
  public var accent: PageColor?
  /// The colour behind the card when the browser prefers light pages; `nil` for a light grey.
  public var background: PageColor?
  /// The colour behind the card when the browser prefers dark pages; `nil` for a dark grey.
  public var darkBackground: PageColor?

  /// Makes a style; what is left out stays as the SDK has it.
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
  /// The name as it is shown, or `nil` when nothing of it can be.
  var shownName: String? {
    guard let appName else { return nil }
    let scalars = appName.unicodeScalars.lazy.filter(Self.isShown)
    // A character may be made of any number of scalars.
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
    // Some scripts and signs need the joiners.
    case .format: scalar == "\u{200C}" || scalar == "\u{200D}"
    case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
    default: true
    }
  }
}
