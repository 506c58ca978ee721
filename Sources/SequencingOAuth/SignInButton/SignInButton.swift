import Basics

/// The picture of a button to sign in with, as SVG, for web pages and for the screens of apps.
///
/// With the default title, the pictures are also files in the folder `Images` beside this one, to
/// be copied. A title of the app's own is drawn in the reader's font, whose widths nobody knows
/// beforehand: the button is as wide as an estimate says, with some room.
public struct SignInButton: Sendable, Hashable {
  /// The kind of page that a button stands on.
  public enum Appearance: String, Sendable, CaseIterable {
    /// For light pages: dark letters on white.
    case light
    /// For dark pages: light letters on a dark ground.
    case dark
  }

  /// How high a button is, in CSS pixels.
  public enum Size: String, Sendable, CaseIterable {
    /// 32 pixels, for a bar of tools.
    case small
    /// 40 pixels.
    case medium
    /// 48 pixels, for fingers.
    case large
  }

  /// The title of a button that is given none.
  public static let defaultTitle = "Sign in with Sequencing"

  /// The kind of page that it stands on.
  public let appearance: Appearance

  /// How high it is.
  public let size: Size

  /// What it says, to the eye and to screen readers: one line of text.
  public let title: String

  /// Makes a button; its title may be any text, such as one from the network or of a translation.
  ///
  /// Line breaks become spaces, and characters that XML forbids are left out. A title in which
  /// nothing is left is the default one, since a button without a name cannot be found by those
  /// who do not see it.
  public init(
    _ appearance: Appearance = .light, size: Size = .medium,
    title: String = SignInButton.defaultTitle
  ) {
    self.appearance = appearance
    self.size = size
    let text = Self.text(of: title)
    self.title = text.isEmpty ? Self.defaultTitle : text
  }

  /// The height in CSS pixels.
  public var height: Int {
    switch size {
    case .small: 32
    case .medium: 40
    case .large: 48
    }
  }

  /// The width in CSS pixels, by an estimate of the title's.
  public var width: Int {
    drawingWidth * height / Self.drawingHeight
  }

  /// The picture, as a file of its own or as an element of an HTML page.
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
