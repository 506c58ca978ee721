import SQBasics

/// A sign-in button as an SVG image, for web pages and for the screens of apps.
///
/// The images with the default title are also files in the SDK's folder `SignInButton/Images`, for
/// copying. A custom title is drawn in the reader's font, whose widths are not known in advance. So
/// the width of the button is an estimate with some spare space.
public struct SignInButton: Sendable, Hashable {
  /// The kind of page that shows the button.
  public enum Appearance: String, Sendable, CaseIterable {
    /// A button for light pages: dark letters on white.
    case light
    /// A button for dark pages: light letters on a dark background.
    case dark
  }

  /// The height of a button, in CSS pixels.
  public enum Size: String, Sendable, CaseIterable {
    /// A height of 32 pixels, for toolbars.
    case small
    /// A height of 40 pixels.
    case medium
    /// A height of 48 pixels, for touch screens.
    case large
  }

  /// The title of a button if the app chooses none.
  public static let defaultTitle = "Sign in with Sequencing"

  /// The kind of page that shows the button.
  public let appearance: Appearance

  /// The height of the button, as one of three sizes.
  public let size: Size

  /// The button's text on a single line; screen readers read it aloud.
  public let title: String

  /// Creates a button with any text as its title; the text may come from the network.
  ///
  /// Line breaks become spaces, and characters that XML forbids are removed. If the title is empty
  /// after that, the default title is used, because users of screen readers could not find a button
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

  /// The width of the button in CSS pixels, based on an estimate of the title's width.
  public var width: Int {
    drawingWidth * height / Self.drawingHeight
  }

  /// The image as SVG text, for a file or for an element of an HTML page.
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
