import SQBasics

/// Draws a sign-in button as SVG, for web pages and for the screens of apps.
///
/// With the default title, the pictures are also files in the SDK's folder `SignInButton/Images`,
/// for copying. A title of your own is drawn in the reader's font, whose widths are unknown
/// beforehand: the button's width is an estimate with some room to spare.
public struct SignInButton: Sendable, Hashable {
  /// The kind of page on which the button stands.
  public enum Appearance: String, Sendable, CaseIterable {
    /// A button for light pages: dark letters on white.
    case light
    /// A button for dark pages: light letters on a dark ground.
    case dark
  }

  /// How high a button is, in CSS pixels.
  public enum Size: String, Sendable, CaseIterable {
    /// A height of 32 pixels, for toolbars.
    case small
    /// A height of 40 pixels.
    case medium
    /// A height of 48 pixels, for touch screens.
    case large
  }

  /// The title of a button for which the app chooses none.
  public static let defaultTitle = "Sign in with Sequencing"

  /// The kind of page on which the button stands.
  public let appearance: Appearance

  /// How high the button is.
  public let size: Size

  /// The button's text, shown and read out by screen readers: one line.
  public let title: String

  /// Makes a button; its title may be any text, for example one from the network or from a
  /// translation.
  ///
  /// Line breaks become spaces, and characters that XML forbids are left out. If nothing of the
  /// title is left, the default title is used: users of screen readers could not find a button
  /// without a name.
  public init(
    _ appearance: Appearance = .light, size: Size = .medium,
    title: String = SignInButton.defaultTitle
  ) {
    self.appearance = appearance
    self.size = size
    let text = Self.text(of: title)
    self.title = text.isEmpty ? Self.defaultTitle : text
  }

  /// The height of the button in CSS pixels.
  public var height: Int {
    switch size {
    case .small: 32
    case .medium: 40
    case .large: 48
    }
  }

  /// The width of the button in CSS pixels, with an estimate of the title's width.
  public var width: Int {
    drawingWidth * height / Self.drawingHeight
  }

  /// The picture as SVG text, for a file of its own or an element of an HTML page.
  public var svg: String {
    drawing.markup + "\n"
  }

  private static func text(of title: String) -> String {
    let allowed = title.unicodeScalars.filter {
      let properties = $0.properties
      return properties.isWhitespace
        || properties.generalCategory != .control && !properties.isNoncharacterCodePoint
    }
    return String(String.UnicodeScalarView(allowed))
      .split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}
