import Basics
import LoopbackHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Receives the redirect of one sign-in on a loopback address.
///
/// It listens from just before the browser opens until the sign-in ends. Only a GET of the exact
/// path with the right `Host` reaches the sign-in, and a POST with a form if the sign-in asked for
/// that (`response_mode=form_post`). Any other request gets 404 and does not affect the sign-in.
///
/// - SeeAlso: RFC 8252, sections 7.3 and 8.3
final class LoopbackRedirectReceiver: Sendable {
  /// Checks a redirect and returns the page for the browser.
  typealias Handler = @Sendable (_ redirect: String) async -> LandingPage

  private struct Delivery: Sendable {
    let port: UInt16
    let handler: Handler
  }

  private let redirect: LoopbackRedirect
  private let port: UInt16
  private let servers: [LoopbackServer]
  private let delivery: OneShot<Delivery>

  /// Opens the port; until ``deliver(to:)`` every request gets 404.
  init(
    _ redirect: LoopbackRedirect, style: LandingPageStyle = LandingPageStyle(),
    acceptsForms: Bool = false
  ) throws(SQOAuthError) {
    var limits = LoopbackLimits()
    limits.connections = 16
    limits.bodyBytes = acceptsForms ? 64 * 1024 : 0
    let delivery = OneShot<Delivery>()
    let answer: LoopbackServer.Handler = { request in
      .response(
        await Self.page(for: request, redirect, delivery.current, acceptsForms)
          .response(in: style))
    }
    do throws(LoopbackError) {
      servers = try Self.listen(redirect) { address, port throws(LoopbackError) in
        try LoopbackServer(address: address, port: port, limits: limits, handler: answer)
      }
    } catch {
      throw Self.unavailable(error)
    }
    port = servers[0].port
    self.redirect = redirect
    self.delivery = delivery
  }

  /// The redirect URI with the port that the receiver listens on.
  var redirectURI: String { redirect.uri(port: port) }

  /// Passes every redirect to the sign-in from now on.
  func deliver(to handler: @escaping Handler) {
    delivery.resolve(Delivery(port: port, handler: handler))
  }

  /// How many connections were closed because too many were open.
  var turnedAway: Int { servers.reduce(0) { $0 + $1.turnedAway } }

  /// Returns when each redirect that arrived before this call was passed on.
  func settle() async {
    for server in servers { await server.settle() }
  }

  /// Closes the port after the pages that are being sent; the sign-in has 15 s to make each of them.
  func stop() async {
    for server in servers { await server.stop(handlerGrace: .seconds(15)) }
  }

  private static func page(
    for request: LoopbackRequest, _ redirect: LoopbackRedirect, _ delivery: Delivery?,
    _ acceptsForms: Bool
  ) async -> LandingPage {
    // The `Host` protects against DNS rebinding: under another name this address is another site.
    guard let delivery, request.path == (redirect.path.isEmpty ? "/" : redirect.path),
      isHost(request.header("host"), of: redirect, port: delivery.port)
    else { return .notFound }
    let address = "http://\(redirect.host):\(delivery.port)\(redirect.path)"
    let url = address + (request.query.map { "?" + $0 } ?? "")
    switch request.method {
    case "GET": return await delivery.handler(url)
    case "POST" where acceptsForms:
      guard
        MediaType.essence(of: request.header("content-type"))
          == "application/x-www-form-urlencoded",
        let posted = PostedRedirect.url(form: request.body, at: url)
      else { return .notFound }
      return await delivery.handler(posted)
    default: return .notFound
    }
  }

  static func isHost(
    _ field: String?, of redirect: LoopbackRedirect, port: UInt16
  ) -> Bool {
    guard let field = field?.lowercased() else { return false }
    return field == "\(redirect.host):\(port)" || (port == 80 && field == redirect.host)
  }

  typealias Bind = (LoopbackAddress, UInt16) throws(LoopbackError) -> LoopbackServer

  /// Listens on one port of every address that the host may mean; there is at least one.
  ///
  /// A browser may take `localhost` for 127.0.0.1 or for ::1. If the system lacks one of these
  /// addresses, no program can listen there. If another program has the port at one of them, it
  /// could get the code, so this fails.
  static func listen(
    _ redirect: LoopbackRedirect, bind: Bind
  ) throws(LoopbackError) -> [LoopbackServer] {
    var attempts = 0
    while true {
      do throws(LoopbackError) {
        return try listenOnce(redirect, bind)
      } catch {
        // Any port is right if it is free at both addresses.
        attempts += 1
        guard case .portInUse = error, redirect.port ?? 0 == 0, attempts < 100 else { throw error }
      }
    }
  }

  private static func listenOnce(
    _ redirect: LoopbackRedirect, _ bind: Bind
  ) throws(LoopbackError) -> [LoopbackServer] {
    let addresses: [LoopbackAddress] =
      switch redirect.host {
      case "localhost": [.ipv4, .ipv6]
      case "[::1]": [.ipv6]
      default: [.ipv4]
      }
    var servers: [LoopbackServer] = []
    for address in addresses {
      do throws(LoopbackError) {
        servers.append(try bind(address, servers.first?.port ?? redirect.port ?? 0))
      } catch {
        guard error == .addressUnavailable else { throw error }
      }
    }
    guard !servers.isEmpty else { throw .addressUnavailable }
    return servers
  }

  static func unavailable(_ error: LoopbackError) -> SQOAuthError {
    switch error {
    case .portInUse(let port):
      SQOAuthError(
        .portInUse,
        "another program uses port \(port) of the redirect URI; end that program, or register a "
          + "redirect URI without a port; if your app listens there to receive the redirect itself, "
          + "set redirectReceiver: .app in its configuration", cause: error)
    case .addressUnavailable, .system:
      SQOAuthError(
        .redirectUnavailable, "the SDK cannot listen for the redirect on the loopback address",
        cause: error)
    }
  }
}
