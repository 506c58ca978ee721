import SQBasics
import SQFoundation
import SQLoopback

/// A receiver of one sign-in's redirect on a loopback address.
///
/// It listens from just before the browser opens until the sign-in ends. Only a GET request for the
/// exact path with the correct `Host` reaches the sign-in. If the sign-in asked for a form
/// (`response_mode=form_post`), a POST request with a form reaches it too. Any other request gets
/// an error status and does not affect the sign-in. The last refused request that may have come
/// from the redirected browser is recorded: if the sign-in gets no response, its error mentions
/// that request.
///
/// - SeeAlso: RFC 8252, sections 7.3 and 8.3
final class LoopbackRedirectReceiver: Sendable {
  /// A function that checks a redirect and returns the page for the browser.
  typealias Handler = @Sendable (_ redirect: String) async -> LandingPage

  private struct Delivery: Sendable {
    let port: UInt16
    let handler: Handler
  }

  private let redirect: LoopbackRedirect
  private let port: UInt16
  private let servers: [LoopbackServer]
  private let delivery: OneShot<Delivery>
  private let lastRefused: LastRefused

  /// The maximum size of the header; it may contain many cookies.
  ///
  /// Cookies belong to a host and not to a port, so the browser sends the cookies of all programs
  /// that have served a page on this machine.
  private static let headerBytes = 256 * 1024
  /// The maximum size of the request line; it may contain a long code and a long state.
  private static let requestLineBytes = 64 * 1024

  /// Opens the port; each request gets 404 until ``deliver(to:)`` is called.
  init(
    _ redirect: LoopbackRedirect, style: LandingPageStyle = LandingPageStyle(),
    acceptsForms: Bool = false
  ) throws(SQOAuthError) {
    var limits = LoopbackLimits()
    limits.connections = 16
    limits.headerBytes = Self.headerBytes
    limits.requestLineBytes = Self.requestLineBytes
    limits.bodyBytes = acceptsForms ? 64 * 1024 : 0
    let delivery = OneShot<Delivery>()
    let lastRefused = LastRefused()
    let answer: LoopbackServer.Handler = { request in
      .response(
        await Self.page(for: request, redirect, delivery.current, acceptsForms, lastRefused)
          .response(in: style))
    }
    let refusal: LoopbackRefusal.Handler = { refusal in
      if let refused = RefusedRequest(refusal) { lastRefused.note(refused) }
      return LandingPage(refusal)?.response(in: style)
    }
    do throws(LoopbackError) {
      servers = try Self.listen(redirect) { address, port throws(LoopbackError) in
        try LoopbackServer(
          address: address, port: port, limits: limits,
          admission: { _ in acceptsForms ? .ordinary : .unread }, refusal: refusal,
          handler: answer)
      }
    } catch {
      throw Self.unavailable(error)
    }
    port = servers[0].port
    self.redirect = redirect
    self.delivery = delivery
    self.lastRefused = lastRefused
  }

  /// The redirect URI with the port that the receiver listens on.
  var redirectURI: String { redirect.uri(port: port) }

  /// Passes all redirects to the sign-in from now on.
  func deliver(to handler: @escaping Handler) {
    delivery.resolve(Delivery(port: port, handler: handler))
  }

  /// The number of connections that were closed because too many were open.
  var turnedAway: Int { servers.reduce(0) { $0 + $1.turnedAway } }

  /// The last refused request that may have carried the response to the sign-in.
  var refused: RefusedRequest? { lastRefused.current }

  /// Waits until each redirect that arrived before this call was passed on.
  func settle() async {
    for server in servers { await server.settle() }
  }

  /// Closes the port after all pending pages are sent; the sign-in has 15 s to create each page.
  func stop() async {
    for server in servers { await server.stop(handlerGrace: .seconds(15)) }
  }

  private static func page(
    for request: LoopbackRequest, _ redirect: LoopbackRedirect, _ delivery: Delivery?,
    _ acceptsForms: Bool, _ lastRefused: LastRefused
  ) async -> LandingPage {
    guard let delivery else { return .notFound }
    // The redirect is compared with the text of the request's redirect URI.
    let url = redirect.base(port: delivery.port) + (request.query.map { "?" + $0 } ?? "")
    if let refused = misaddressed(request, redirect, port: delivery.port) {
      if request.isLikeAnswer { lastRefused.note(refused) }
      return .notFound
    }
    switch request.method {
    case "GET": return await delivery.handler(url)
    case "POST" where acceptsForms:
      guard
        MediaType.essence(of: request.header("content-type"))
          == "application/x-www-form-urlencoded",
        let posted = PostedRedirect.url(form: request.body, at: url)
      else {
        lastRefused.note(.noForm)
        return .notFound
      }
      return await delivery.handler(posted)
    case "POST":
      lastRefused.note(.post)
      return .notFound
    default: return .notFound
    }
  }

  /// Returns how a request differs from the redirect URI; `nil` if it does not differ.
  private static func misaddressed(
    _ request: LoopbackRequest, _ redirect: LoopbackRedirect, port: UInt16
  ) -> RefusedRequest? {
    let path = redirect.path.isEmpty ? "/" : redirect.path
    guard request.path == path else { return .path(request.path, expected: path) }
    // Checking `Host` protects against DNS rebinding, where an attacker's host name resolves to
    // this address.
    let host = request.header("host")
    guard isHost(host, of: redirect, port: port) else {
      return .host(host ?? "", expected: "\(redirect.host):\(port)")
    }
    return nil
  }

  static func isHost(
    _ field: String?, of redirect: LoopbackRedirect, port: UInt16
  ) -> Bool {
    guard let field = field?.asciiLowercased() else { return false }
    return field == "\(redirect.host):\(port)" || (port == 80 && field == redirect.host)
  }

  typealias Bind = (LoopbackAddress, UInt16) throws(LoopbackError) -> LoopbackServer

  /// Listens on the same port of each address that the host may refer to; returns at least one
  /// server.
  ///
  /// A browser may resolve `localhost` to 127.0.0.1 or to ::1. If the system lacks one of these
  /// addresses, no program can listen there. If another program uses the port at one of them, it
  /// could get the code, so this function throws.
  static func listen(
    _ redirect: LoopbackRedirect, bind: Bind
  ) throws(LoopbackError) -> [LoopbackServer] {
    var attempts = 0
    while true {
      do throws(LoopbackError) {
        return try listenOnce(redirect, bind)
      } catch {
        // If the system chooses the port, another port may be free at both addresses.
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
    case .addressUnavailable:
      SQOAuthError(
        .redirectUnavailable,
        "this machine does not have the loopback address of the redirect URI: set up its loopback "
          + "interface, or register a redirect URI with 127.0.0.1", cause: error)
    case .system(let code):
      SQOAuthError(
        .redirectUnavailable,
        "the SDK cannot listen for the redirect on the loopback address ("
          + "\(CLibrary.meaning(of: code))); check what the system lets this program do",
        cause: error)
    }
  }
}
