/// The settings of the sandbox's API as a protected resource.
///
/// - SeeAlso: RFC 9728; RFC 8707
public struct SandboxResourceOptions: Sendable {
  /// How much of the sandbox counts as one protected resource: the whole origin or one path.
  public enum Extent: Sendable, Hashable, CaseIterable {
    /// The whole origin, whose document is at `/.well-known/oauth-protected-resource`.
    case origin
    /// Each path of the API; the address of the path's document ends with the path, as in
    /// `/.well-known/oauth-protected-resource/api/me`.
    ///
    /// The ID of a file is not part of the path: the files of a drive are one resource.
    case path
  }

  /// A rule about the tokens that the API accepts.
  public enum AudienceRule: Sendable, Hashable, CaseIterable {
    /// A token for any resource.
    case any
    /// A token for the requested resource, or a token that was issued for no resource.
    case notForOthers
    /// Only a token for the requested resource.
    case named
  }

  /// Whether the API publishes its metadata in a document, whose address its challenges contain.
  public var describesItself = true
  /// How much of the sandbox one metadata document describes: the whole origin or one path.
  public var extent = Extent.origin
  /// The issuers in the metadata, `authorization_servers`; the sandbox itself if the list is empty.
  public var authorizationServers: [String] = []
  /// The scopes in the metadata, `scopes_supported`; `nil` for the scopes that the API knows.
  public var scopes: [String]?
  /// The rule that decides, by the resources in a token, whether the API accepts it.
  public var audienceRule = AudienceRule.notForOthers
  /// The demands of the API at some of its paths, beyond a valid token.
  public var stepUps: [SandboxStepUp] = []

  /// Creates the default settings.
  public init() {}
}
