import SQBasics

/// The reason that a server gave when it refused: an error body, or the error parameters of a
/// redirect.
///
/// The texts come from the server; the SDK removes control characters and cuts each text at 500
/// characters. It never opens ``errorURI``.
///
/// - SeeAlso: RFC 6749, sections 4.1.2.1 and 5.2
public struct ErrorResponse: Sendable, Hashable {
  /// The member `error`: the code of the error as the server sent it.
  ///
  /// The error of the SDK has the same code, unless that is one of the SDK's own; then it is
  /// ``SQOAuthError/Code/requestRefused``.
  public let error: SQOAuthError.Code
  /// The member `error_description`: a text for developers, not for users.
  public let errorDescription: String?
  /// The member `error_uri`: the address of a page about the error, as the server wrote it.
  public let errorURI: String?

  /// Makes an error response; control characters are removed and long texts are cut.
  public init(
    error: String, errorDescription: String? = nil, errorURI: String? = nil
  ) {
    self.error = SQOAuthError.Code(rawValue: error.printable)
    self.errorDescription = errorDescription?.printable
    self.errorURI = errorURI?.printable
  }
}
