import SQHTTP2

/// The mapping from HTTP errors to gRPC statuses.
enum HTTPMapping {
  /// Returns the status of a response without `grpc-status`.
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

  /// Returns the status of a call after the server reset its stream.
  ///
  /// - SeeAlso: gRPC's `doc/PROTOCOL-HTTP2.md`, "Errors"
  static func status(ofReset code: HTTP2ErrorCode) -> RPCStatus {
    switch code {
    case .refusedStream: .unavailable
    case .cancel: .cancelled
    case .enhanceYourCalm: .resourceExhausted
    case .inadequateSecurity: .permissionDenied
    default: .internal
    }
  }
}
