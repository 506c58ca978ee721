import SQFoundation

/// An endpoint that only some calls need; the raw value is its member in a server's metadata.
///
/// - SeeAlso: RFC 8414, section 2
package enum OptionalEndpoint: String, Sendable, CaseIterable {
  case revocation = "revocation_endpoint"
  case deviceAuthorization = "device_authorization_endpoint"
  case pushedAuthorization = "pushed_authorization_request_endpoint"
  case introspection = "introspection_endpoint"
  case registration = "registration_endpoint"
  case keys = "jwks_uri"
  case userInfo = "userinfo_endpoint"
  case endSession = "end_session_endpoint"

  /// The endpoint's name in messages.
  var name: String {
    switch self {
    case .revocation: "revocation endpoint"
    case .deviceAuthorization: "device authorization endpoint"
    case .pushedAuthorization: "pushed authorization request endpoint"
    case .introspection: "introspection endpoint"
    case .registration: "registration endpoint"
    case .keys: "address of the keys"
    case .userInfo: "UserInfo endpoint"
    case .endSession: "end session endpoint"
    }
  }

  /// An endpoint's address in a server's metadata.
  enum Address: Sendable, Hashable {
    case url(URL)
    /// The endpoint's address cannot be used, so no request goes there.
    case unusable(SQOAuthError.Code, reason: String)

    /// Creates an address from the URL that a check returns, or from the error that it throws.
    init(_ check: () throws(SQOAuthError) -> URL) {
      do throws(SQOAuthError) {
        self = .url(try check())
      } catch {
        self = .unusable(error.code, reason: error.message)
      }
    }

    /// The address; `nil` if it cannot be used.
    var url: URL? {
      if case .url(let url) = self { url } else { nil }
    }
  }
}
