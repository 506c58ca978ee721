import Foundation
import OAuthSandbox
import SequencingOAuth

/// A network and a browser in which Sequencing.com is a sandbox.
nonisolated struct Internet: HTTPTransport, UserAgent {
  let sandbox: SandboxServer

  func send(_ request: WebRequest) async throws -> WebResponse {
    var request = request
    request.url = sandboxed(request.url)
    return try await CurlTransport.shared.send(request)
  }

  func open(_ url: URL) async throws {
    let visit = try await SandboxVisitor().visit(sandboxed(url))
    // As the system opens an app for its scheme.
    SQOAuth.shared.handleRedirect(visit.redirect)
  }

  private func sandboxed(_ url: URL) -> URL {
    let endpoints = [
      "/oauth2/authorize": sandbox.authorizationEndpoint, "/oauth2/token": sandbox.tokenEndpoint,
    ]
    guard url.host() == "sequencing.com", let endpoint = endpoints[url.path()],
      var address = URLComponents(url: endpoint, resolvingAgainstBaseURL: false)
    else { return url }
    address.percentEncodedQuery = url.query()
    return address.url ?? url
  }
}
