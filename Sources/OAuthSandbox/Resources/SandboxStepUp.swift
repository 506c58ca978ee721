/// A demand of the sandbox's API at one path, beyond a valid token.
///
/// - SeeAlso: RFC 6750, section 3.1; RFC 9470, section 3
public struct SandboxStepUp: Sendable, Hashable {
  /// The path, such as `/api/me`; the demand also holds for the paths below it.
  public var path: String
  /// The scopes that the token must have; if one is missing, the answer is 403 with
  /// `insufficient_scope`.
  public var scopes: [String] = []
  /// The authentication contexts, `acr`, that suffice; empty for any.
  ///
  /// If the user's login has none of them, the answer is 401 with
  /// `insufficient_user_authentication`.
  public var acrValues: [String] = []
  /// The maximum age of the user's login; `nil` for any age.
  public var maxAge: Duration?

  /// Creates the demand for more scopes at a path.
  public static func scopes(_ scopes: [String], at path: String) -> Self {
    Self(path: path, scopes: scopes)
  }

  /// Creates the demand for a different or more recent login at a path.
  public static func login(
    acrValues: [String] = [], maxAge: Duration? = nil, at path: String
  ) -> Self {
    Self(path: path, acrValues: acrValues, maxAge: maxAge)
  }
}
