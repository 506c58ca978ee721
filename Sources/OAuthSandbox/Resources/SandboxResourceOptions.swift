/// The settings of the sandbox's API as a protected resource.
///
/// - SeeAlso: RFC 9728; RFC 8707
public struct SandboxResourceOptions: Sendable {
  /// The part of the sandbox that is one resource.
  public enum Extent: Sendable, Hashable, CaseIterable {
    /// The whole origin, whose document is at `/.well-known/oauth-protected-resource`.
    case origin
    /// Each path of the API, whose document has the path inserted, as in
    /// `/.well-known/oauth-protected-resource/api/me`.
    case path
  }

  /// A rule about the tokens that the API accepts.
  public enum AudienceRule: Sendable, Hashable, CaseIterable {
    /// A token for any resource.
    case any
    /// A token for this resource, or a token that was issued for no resource.
    case notForOthers
    /// Only a token for this resource.
    case named
  }

  /// Whether the API describes itself in a document, which its challenges name.
  public var describesItself = true
  /// The part of the sandbox that one document describes.
  public var extent = Extent.origin
  /// The issuers in the document, `authorization_servers`; the sandbox itself if it is empty.
  public var authorizationServers: [String] = []
  /// The scopes in the document, `scopes_supported`; `nil` for those that the API knows.
  public var scopes: [String]?
  /// The tokens that the API accepts, by the resources for which they were issued.
  public var audienceRule = AudienceRule.notForOthers
  /// What the API demands in addition at some of its paths.
  public var stepUps: [SandboxStepUp] = []

  /// Creates the default settings.
  public init() {}
}

/// A demand of the sandbox's API at one path, beyond a valid token.
///
/// - SeeAlso: RFC 6750, section 3.1; RFC 9470, section 3
public struct SandboxStepUp: Sendable, Hashable {
  /// The path, such as `/api/me`; the demand also holds for the paths below it.
  public var path: String
  /// The scopes that the token must all have, or the answer is 403 with `insufficient_scope`.
  public var scopes: [String] = []
  /// The authentication contexts of which the user's login must have one, or the answer is 401 with
  /// `insufficient_user_authentication`; empty for any login.
  public var acrValues: [String] = []
  /// The maximum age of the user's login; `nil` for any age.
  public var maxAge: Duration?

  /// Creates the demand for more scopes at a path.
  public static func scopes(_ scopes: [String], at path: String) -> Self {
    Self(path: path, scopes: scopes)
  }

  /// Creates the demand for another or a newer login at a path.
  public static func login(
    acrValues: [String] = [], maxAge: Duration? = nil, at path: String
  ) -> Self {
    Self(path: path, acrValues: acrValues, maxAge: maxAge)
  }

  func holds(at path: String) -> Bool { path == self.path || path.hasPrefix(self.path + "/") }
}
