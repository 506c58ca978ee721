/// The settings of the sandbox's API as a protected resource.
///
/// - SeeAlso: RFC 9728; RFC 8707
public struct SandboxResourceOptions: Sendable {
  /// The part of the sandbox that is one resource.
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
