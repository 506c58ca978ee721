import LoopbackHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Receives the redirect of one sign-in on a loopback address.
///
/// It listens from just before the browser opens until the sign-in ends. Only a GET of the exact
/// path with the right `Host` reaches the sign-in; anything else is answered 404 and ends nothing.
///
/// - SeeAlso: RFC 8252, sections 7.3 and 8.3
final class LoopbackRedirectReceiver: Sendable {
  /// Judges a redirect and returns the page that its sender sees.
  typealias Handler = @Sendable (_ redirect: String) async -> LandingPage

  /// The redirect URI with the port that was bound.
  let redirectURI: String
  private let servers: [LoopbackServer]
  private let handler = OneShot<Handler>()

  /// Binds the port; until ``deliver(to:)`` every request is answered 404.
  init(_ redirect: LoopbackRedirect) throws(SQOAuthError) {
    var limits = LoopbackLimits()
    limits.connections = 16
    limits.bodyBytes = 0
    limits.idleTime = .seconds(5)
    let answer: LoopbackServer.Handler = { [handler] request in
      .response(await Self.answer(request, redirect, handler.current))
    }
    do {
      let first = try LoopbackServer(
        address: redirect.host == "[::1]" ? .ipv6 : .ipv4, port: redirect.port ?? 0,
        limits: limits, handler: answer)
      redirectURI = redirect.uri(port: first.port)
      // A browser may resolve localhost to either family; without IPv6 there is only one.
      let second =
        redirect.host == "localhost"
        ? try? LoopbackServer(address: .ipv6, port: first.port, limits: limits, handler: answer)
        : nil
      servers = [first] + [second].compactMap(\.self)
    } catch {
      throw Self.unavailable(error)
    }
  }

  /// Hands every redirect to the sign-in from now on.
  func deliver(to handler: @escaping Handler) {
    self.handler.resolve(handler)
  }

  /// Closes the port, after the pages that are under way.
  func stop() async {
    for server in servers { await server.stop() }
  }

  private static func answer(
    _ request: LoopbackRequest, _ redirect: LoopbackRedirect, _ handler: Handler?
  ) async -> LoopbackResponse {
    // The Host is checked against DNS rebinding: another name for this address is another site.
    guard let handler, request.method == "GET",
      request.path == (redirect.path.isEmpty ? "/" : redirect.path),
      isHost(request.header("host"), of: redirect, port: request.localPort)
    else { return LandingPage.notFound.response(status: 404) }
    let address = "http://\(redirect.host):\(request.localPort)\(redirect.path)"
    return await handler(address + (request.query.map { "?" + $0 } ?? "")).response()
  }

  private static func isHost(
    _ field: String?, of redirect: LoopbackRedirect, port: UInt16
  ) -> Bool {
    guard let field = field?.lowercased() else { return false }
    return field == "\(redirect.host):\(port)" || (port == 80 && field == redirect.host)
  }

  private static func unavailable(_ error: LoopbackError) -> SQOAuthError {
    switch error {
    case .portInUse(let port):
      SQOAuthError(
        .portInUse,
        "port \(port) of the redirect URI is in use by another program; end that, "
          + "or register a redirect URI without a port", cause: error)
    case .addressUnavailable, .system:
      SQOAuthError(
        .redirectUnavailable, "no redirect can be received on the loopback address", cause: error)
    }
  }
}
