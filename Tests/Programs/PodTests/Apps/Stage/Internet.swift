import Foundation
import OAuthSandbox
import SequencingOAuth

/// A network and a browser that send requests for Sequencing.com to a sandbox.
nonisolated struct Internet: HTTPTransport, UserAgent {
  let sandbox: SandboxServer

  func send(_ request: WebRequest) async throws -> WebResponse {
    var request = request
    request.url = sandboxed(request.url)
    return try await CurlTransport.shared.send(request)
  }

  func open(_ url: URL) async throws {
    let visit = try await SandboxVisitor().visit(sandboxed(url))
    // A real system would now open the app, because the app owns the redirect's scheme.
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
