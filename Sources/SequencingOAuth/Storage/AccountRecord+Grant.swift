extension AccountRecord {
  /// A grant that needs neither a user nor a refresh token, so that the SDK can repeat it.
  public struct Grant: Sendable, Hashable, Codable {
    /// The `grant_type` of the token request.
    public let grantType: String
    /// The scope in the token request; `nil` if it had none.
    public let scope: String?
    /// The content that the client signs for the JWT bearer grant; `nil` for other grants, and if
    /// the assertions come from the configuration's source.
    public let assertion: JWTAssertion?
    /// A digest of the user whom the source's last assertion named; `nil` if it named none.
    ///
    /// The digest lets a renewal notice that the source names another user.
    package var user: String?

    /// Returns the client credentials grant of RFC 6749, section 4.4.
    public static func clientCredentials(scope: String?) -> Self {
      Self(grantType: "client_credentials", scope: scope, assertion: nil)
    }

    /// Returns the JWT bearer grant of RFC 7523, section 2.1.
    public static func jwtBearer(_ assertion: JWTAssertion, scope: String?) -> Self {
      Self(grantType: JWTAssertion.grantType, scope: scope, assertion: assertion)
    }

    /// Returns the JWT bearer grant with assertions from
    /// ``ClientConfiguration/grantAssertionSource``; the record contains no assertion.
    public static func jwtBearer(scope: String?) -> Self {
      Self(grantType: JWTAssertion.grantType, scope: scope, assertion: nil)
    }

    /// Whether the client acts in its own name (RFC 6749, section 4.4).
    package var isClientCredentials: Bool {
      grantType == Self.clientCredentials(scope: nil).grantType
    }

    /// Returns this grant with a part of its scope, or with its whole scope if `scope` is `nil`.
    func narrowed(to scope: String?) -> Self {
      scope == nil
        ? self : Self(grantType: grantType, scope: scope, assertion: assertion, user: user)
    }

    /// Returns this grant with the user whom its assertion has named.
    func naming(_ user: String?) -> Self {
      Self(grantType: grantType, scope: scope, assertion: assertion, user: user ?? self.user)
    }

    enum CodingKeys: String, CodingKey {
      case grantType = "grant_type"
      case scope
      case assertion
      case user
    }
  }
}
