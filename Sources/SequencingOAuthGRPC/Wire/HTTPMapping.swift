import SequencingOAuth

/// The gRPC status for each failure of HTTP.
enum HTTPMapping {
  /// The status of a response that has no `grpc-status`.
  ///
  /// - SeeAlso: gRPC's `doc/http-grpc-status-mapping.md`
  static func status(ofHTTP status: Int) -> RPCStatus {
    switch status {
    case 400: .internal
    case 401: .unauthenticated
    case 403: .permissionDenied
    case 404: .unimplemented
    case 429, 502, 503, 504: .unavailable
    default: .unknown
    }
  }

  /// The status of a call whose stream the server reset, or whose HTTP exchange failed otherwise.
  ///
  /// - SeeAlso: gRPC's `doc/PROTOCOL-HTTP2.md`, "Errors"
  static func status(of error: SQOAuthError) -> RPCStatus {
    (error.cause as? CurlError)?.streamErrorCode.map(status(ofReset:)) ?? .unavailable
  }

  static func status(ofReset code: UInt32) -> RPCStatus {
    switch code {
    case 7: .unavailable  // REFUSED_STREAM
    case 8: .cancelled  // CANCEL
    case 11: .resourceExhausted  // ENHANCE_YOUR_CALM
    case 12: .permissionDenied  // INADEQUATE_SECURITY
    default: .internal
    }
  }
}
