/// What a server said when it refused: an error body, or the error parameters of a redirect.
///
/// The texts come from the server: control characters are taken out and each is cut at 500
/// characters. ``errorURI`` is never opened by the SDK.
///
/// - SeeAlso: RFC 6749, sections 4.1.2.1 and 5.2
public struct ErrorResponse: Sendable, Hashable {
  /// `error`.
  public let error: SQOAuthError.Code
  /// `error_description`: for developers, not for users.
  public let errorDescription: String?
  /// `error_uri`: a page about the error, as the server wrote it.
  public let errorURI: String?

  /// Makes an error response and cleans its texts.
  public init(
    error: String, errorDescription: String? = nil, errorURI: String? = nil
  ) {
    self.error = SQOAuthError.Code(rawValue: Self.clean(error))
    self.errorDescription = errorDescription.map(Self.clean)
    self.errorURI = errorURI.map(Self.clean)
  }

  /// A server's text without control characters, cut at 500 characters.
  package static func clean(_ text: String) -> String { printable(text, atMost: 500) }

  /// A text without control characters, and with no more than so many of the others.
  static func printable(_ text: String, atMost count: Int = .max) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.lazy.filter(isPrintable).prefix(count)))
  }

  /// Also refuses what changes the direction or the lines of a terminal.
  private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
    default: true
    }
  }
}
