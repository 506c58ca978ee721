import Foundation
import OAuthSandbox
import SQBasics
import SequencingOAuth
import SequencingOAuthPipes
import Testing

@testable import TestSupport

/// Two pipes to the file API (the drive) of a sandbox, over the real transport.
struct DriveFixture: Sendable {
  /// The drive's information about a file.
  struct File: Codable, Sendable, Equatable {
    var id: String?
    var title: String
    var description: String?
    var mimeType: String?
    var fileSize: String?
  }

  struct List: Decodable, Sendable {
    var items: [File]
    var titles: [String] { items.map(\.title) }
  }

  let fixture: SandboxFixture
  let pipeline: Pipeline
  /// The pipe for information about files.
  let files: Pipeline.Pipe
  /// The pipe for uploads of content.
  let uploads: Pipeline.Pipe

  var sandbox: SandboxServer { fixture.sandbox }
  var module: AuthorizationModule { fixture.oauth.module }

  /// Creates Alice's drive and a client, which she allows by default.
  ///
  /// After the sign-in, no timer refreshes the token.
  init(
    _ configuration: PipeConfiguration = PipeConfiguration(), isSignedIn: Bool = true,
    options: SandboxOptions = SandboxOptions(), scope: String = "files",
    decision: SandboxVisitor.Decision = .allow, byHand: Bool = true
  ) async throws {
    fixture = try await SandboxFixture(options, decision: decision)
      .register(scope: scope, byHand: byHand)
    pipeline = try Pipeline(baseURL: fixture.sandbox.issuer, module: fixture.oauth.module)
    var files = configuration
    files.endpoint = "drive/v2/files"
    self.files = try pipeline.add("files", files)
    var uploads = configuration
    uploads.endpoint = "upload/drive/v2/files"
    self.uploads = try pipeline.add("uploads", uploads)
    if isSignedIn {
      _ = try await fixture.oauth.signIn()
      module.refreshesAutomatically = false
      sandbox.forgetRequests()
    }
  }

  /// Every request in order with its query, such as `GET /drive/v2/files?alt=media`.
  ///
  /// A token request has its grant type at the end: `POST /token refresh_token`.
  var asked: [String] {
    sandbox.requests.map { request in
      let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
      let grant = request.form("grant_type").map { " \($0)" } ?? ""
      return "\(request)" + (query.isEmpty ? "" : "?\(query)") + grant
    }
  }

  /// Every request in order, except for metadata; each without its query, as in `GET /authorize`.
  var paths: [String] {
    sandbox.requests.filter { $0.endpoint != .metadata }.map(\.description)
  }

  /// The tokens of the requests to the API in order; equal tokens in a row count once.
  var tokensUsed: [String] {
    sandbox.requests.compactMap(\.bearerToken).reduce(into: []) { tokens, token in
      if tokens.last != token { tokens.append(token) }
    }
  }

  /// Returns the current state of a file of Alice.
  func stored(_ id: String?) -> SandboxFile? {
    sandbox.files().first { $0.id == id }
  }

  /// Makes the sandbox reject the access token that the client still treats as valid, as an
  /// administrator's click would.
  func revokeAccessToken() {
    sandbox.expireAccessTokens()
  }
}
