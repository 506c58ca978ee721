import Basics

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
    self.error = SQOAuthError.Code(rawValue: error.printable)
    self.errorDescription = errorDescription?.printable
    self.errorURI = errorURI?.printable
  }
}
