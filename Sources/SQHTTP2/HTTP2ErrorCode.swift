/// The reason why a stream was reset or a connection ended.
///
/// - SeeAlso: RFC 9113, section 7
package struct HTTP2ErrorCode: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  package static let noError = Self(rawValue: 0)
  package static let protocolError = Self(rawValue: 1)
  package static let internalError = Self(rawValue: 2)
  package static let refusedStream = Self(rawValue: 7)
  package static let cancel = Self(rawValue: 8)
  package static let enhanceYourCalm = Self(rawValue: 11)
  package static let inadequateSecurity = Self(rawValue: 12)

  private static let names = [
    "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT",
    "STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR",
    "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
  ]
}

extension HTTP2ErrorCode: CustomStringConvertible {
  /// The code's name in the RFC, or `error` and its number if it has none.
  package var description: String {
    rawValue < Self.names.count ? Self.names[Int(rawValue)] : "error \(rawValue)"
  }
}
