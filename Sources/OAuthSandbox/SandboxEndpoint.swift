/// An endpoint of the sandbox.
public enum SandboxEndpoint: String, Sendable, Hashable, CaseIterable {
  /// The server's metadata: `/.well-known/oauth-authorization-server` or
  /// `/.well-known/openid-configuration`.
  case metadata
  /// The API's metadata: `/.well-known/oauth-protected-resource`, with or without a path of the API
  /// after it.
  case resourceMetadata
  /// The start of a sign-in: `/authorize`.
  case authorization
  /// The endpoint where clients push the parameters of a sign-in: `/par`.
  case pushedAuthorization
  /// The login page and its form: `/login`.
  case login
  /// The consent page and its form: `/consent`.
  case consent
  /// The start of a sign-in on another device: `/device_authorization`.
  case deviceAuthorization
  /// The page where a user enters a device's code, and its form: `/device`.
  case device
  /// The token endpoint: `/token`.
  case token
  /// The revocation endpoint: `/revoke`.
  case revocation
  /// The introspection endpoint: `/introspect`.
  case introspection
  /// The endpoint where clients register themselves: `/register`.
  case registration
  /// The address where a client manages its registration: `/register/ID`.
  case clientConfiguration
  /// The set of the public signing keys: `/jwks`.
  case keys
  /// The claims about the user of the request's token: `/userinfo`.
  case userInfo
  /// The page that ends the user's session, and its form: `/logout`.
  case endSession
  /// The API that returns the user, scopes and lifetime of the request's token: `/api/me`.
  case me
  /// The API that lists the sample files and the user's own files: `/api/DataSourceList`.
  case files
  /// The API that returns a drive's owner, size and used bytes: `/drive/v2/about`.
  case driveAbout
  /// The API that lists a drive's files and adds files without content: `/drive/v2/files`.
  case driveFiles
  /// The metadata of one file: `/drive/v2/files/ID`.
  case driveFile
  /// The content of one file: `/drive/v2/files/ID?alt=media`.
  case driveContent
  /// The API that receives the content of a new file, at `/upload/drive/v2/files`, or of an
  /// existing file, at `/upload/drive/v2/files/ID`.
  case driveUpload

  /// Creates the endpoint that answers a request, or returns `nil` for an unknown path.
  init?(_ method: String, path: String, query: [SandboxParameter]) {
    if path == "/.well-known/openid-configuration" {
      self = .metadata
    } else if path.hasPrefix(Self.resourceMetadata.path + "/") {
      self = .resourceMetadata
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

  /// The endpoint's path below the issuer, without the ID of a file or client.
  public var path: String {
    switch self {
    case .metadata: "/.well-known/oauth-authorization-server"
    case .resourceMetadata: "/.well-known/oauth-protected-resource"
    case .authorization: "/authorize"
    case .pushedAuthorization: "/par"
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
