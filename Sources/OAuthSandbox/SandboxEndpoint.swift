/// What the sandbox serves.
public enum SandboxEndpoint: String, Sendable, Hashable, CaseIterable {
  /// `/.well-known/oauth-authorization-server`, and the same by OpenID Connect's name.
  case metadata
  /// `/authorize`, where a sign-in begins.
  case authorization
  /// `/login`, the login page and its form.
  case login
  /// `/consent`, the consent page and its form.
  case consent
  /// `/token`.
  case token
  /// `/revoke`.
  case revocation
  /// `/introspect`.
  case introspection
  /// `/api/me`, which says whose token it was given.
  case me
  /// `/api/DataSourceList`, the list of sample files and of a user's own.
  case files
  /// `/drive/v2/about`, which says whose drive it is and how full.
  case driveAbout
  /// `/drive/v2/files`, the list of a drive's files, where new ones are added without content.
  case driveFiles
  /// `/drive/v2/files/ID`, what is known of a file.
  case driveFile
  /// `/drive/v2/files/ID?alt=media`, the content of a file.
  case driveContent
  /// `/upload/drive/v2/files`, where contents are sent to, with an ID behind it to replace one.
  case driveUpload

  /// The endpoint that a request is for.
  init?(_ method: String, path: String, query: [SandboxParameter]) {
    if path == "/.well-known/openid-configuration" {
      self = .metadata
    } else if path.hasPrefix(Self.driveUpload.path + "/") {
      self = .driveUpload
    } else if path.hasPrefix(Self.driveFile.path + "/") {
      let wantsContent = query.value("alt") == "media" && (method == "GET" || method == "HEAD")
      self = wantsContent ? .driveContent : .driveFile
    } else if let endpoint = Self.allCases.first(where: { $0.path == path }) {
      self = endpoint
    } else {
      return nil
    }
  }

  /// The path, from the issuer on; for one file, up to its ID.
  public var path: String {
    switch self {
    case .metadata: "/.well-known/oauth-authorization-server"
    case .authorization: "/authorize"
    case .login: "/login"
    case .consent: "/consent"
    case .token: "/token"
    case .revocation: "/revoke"
    case .introspection: "/introspect"
    case .me: "/api/me"
    case .files: "/api/DataSourceList"
    case .driveAbout: "/drive/v2/about"
    case .driveFiles, .driveFile, .driveContent: "/drive/v2/files"
    case .driveUpload: "/upload/drive/v2/files"
    }
  }
}
