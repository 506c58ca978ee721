/// An endpoint of the sandbox.
public enum SandboxEndpoint: String, Sendable, Hashable, CaseIterable {
  /// The server's metadata: `/.well-known/oauth-authorization-server`, or OpenID Connect's address.
  case metadata
  /// The start of a sign-in: `/authorize`.
  case authorization
  /// The login page and its form: `/login`.
  case login
  /// The consent page and its form: `/consent`.
  case consent
  /// The start of a sign-in on another device: `/device_authorization`.
  case deviceAuthorization
  /// The page on which a user enters a device's code, and its form: `/device`.
  case device
  /// The token endpoint: `/token`.
  case token
  /// The revocation endpoint: `/revoke`.
  case revocation
  /// The introspection endpoint: `/introspect`.
  case introspection
  /// The endpoint at which clients register themselves: `/register`.
  case registration
  /// The address at which a client manages its registration: `/register/ID`.
  case clientConfiguration
  /// The set of the keys that sign tokens: `/jwks`.
  case keys
  /// The claims about the user whose token the request carries: `/userinfo`.
  case userInfo
  /// The page that ends the user's session, and its form: `/logout`.
  case endSession
  /// The API that tells whose token the request carries: `/api/me`.
  case me
  /// The API that lists the sample files and the user's own files: `/api/DataSourceList`.
  case files
  /// The API that tells whose drive it is and how full: `/drive/v2/about`.
  case driveAbout
  /// The API that lists a drive's files and adds files without content: `/drive/v2/files`.
  case driveFiles
  /// The metadata of one file: `/drive/v2/files/ID`.
  case driveFile
  /// The content of one file: `/drive/v2/files/ID?alt=media`.
  case driveContent
  /// The API that receives contents: `/upload/drive/v2/files`, with `/ID` to replace a file's
  /// content.
  case driveUpload

  /// Finds the endpoint for a request; `nil` for an unknown path.
  init?(_ method: String, path: String, query: [SandboxParameter]) {
    if path == "/.well-known/openid-configuration" {
      self = .metadata
    } else if path.hasPrefix(Self.driveUpload.path + "/") {
      self = .driveUpload
    } else if path.hasPrefix(Self.driveFile.path + "/") {
      let wantsContent = query.value("alt") == "media" && (method == "GET" || method == "HEAD")
      self = wantsContent ? .driveContent : .driveFile
    } else if path.hasPrefix(Self.clientConfiguration.path + "/") {
      self = .clientConfiguration
    } else if let endpoint = Self.allCases.first(where: { $0.path == path }) {
      self = endpoint
    } else {
      return nil
    }
  }

  /// The path below the issuer; for endpoints of one file, without its ID.
  public var path: String {
    switch self {
    case .metadata: "/.well-known/oauth-authorization-server"
    case .authorization: "/authorize"
    case .login: "/login"
    case .consent: "/consent"
    case .deviceAuthorization: "/device_authorization"
    case .device: "/device"
    case .token: "/token"
    case .revocation: "/revoke"
    case .introspection: "/introspect"
    case .registration, .clientConfiguration: "/register"
    case .keys: "/jwks"
    case .userInfo: "/userinfo"
    case .endSession: "/logout"
    case .me: "/api/me"
    case .files: "/api/DataSourceList"
    case .driveAbout: "/drive/v2/about"
    case .driveFiles, .driveFile, .driveContent: "/drive/v2/files"
    case .driveUpload: "/upload/drive/v2/files"
    }
  }
}
