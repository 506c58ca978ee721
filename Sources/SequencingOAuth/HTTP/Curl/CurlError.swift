import CSQCurl
public import SQFoundation

/// An error of libcurl, as the cause of an ``SQOAuthError``.
///
/// The text may contain the server's name, but no other part of the request or the response.
public struct CurlError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The `CURLcode`, such as 6 for an unknown host and 60 for a certificate that is not trusted.
  public let code: Int32
  /// The meaning of the error, in libcurl's words.
  ///
  /// Usually, it is libcurl's fixed text for the code. For a TLS error, it is the reason that
  /// OpenSSL or libcurl gives. For an HTTP/2 stream that the server reset, it contains the name of
  /// the server's error code.
  public let text: String

  init(_ code: CURLcode, text: String? = nil) {
    self.code = Int32(bitPattern: code.rawValue)
    self.text = text ?? String(cString: curl_easy_strerror(code))
  }

  /// The text and libcurl's code.
  public var description: String { "\(text) (libcurl \(code))" }
}

extension CurlError: LocalizedError {
  /// The text and libcurl's code, for `localizedDescription`.
  public var errorDescription: String? { description }
}
