import SQBasics

/// A server's reason for a refusal: an error body, or the error parameters of a redirect.
///
/// The texts come from the server. The SDK removes control characters and cuts each text after 500
/// characters. It never opens ``errorURI``.
///
/// - SeeAlso: RFC 6749, sections 4.1.2.1 and 5.2
public struct ErrorResponse: Sendable, Hashable {
  /// The member `error`: the error code as the server sent it.
  ///
  /// The SDK's error has this code too. But if the code is equal to one of the SDK's own codes, the
  /// SDK's error has ``SQOAuthError/Code/requestRefused``. If it is a code of Apple, LinkedIn or
  /// Microsoft for a cancelled sign-in, the SDK's error has ``SQOAuthError/Code/accessDenied``.
  public let error: SQOAuthError.Code
  /// The member `error_description`: a text for developers, not for users.
  public let errorDescription: String?
  /// The member `error_uri`: the address of a page about the error, as the server wrote it.
  public let errorURI: String?

  /// Creates an error response; removes control characters and cuts long texts.
  public init(
    error: String, errorDescription: String? = nil, errorURI: String? = nil
  ) {
    self.error = SQOAuthError.Code(rawValue: error.printable)
    self.errorDescription = errorDescription?.printable
    self.errorURI = errorURI?.printable
  }
}
