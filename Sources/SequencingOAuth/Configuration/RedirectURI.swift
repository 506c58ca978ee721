import SQBasics
import SQFoundation

/// The URI to which the authorization server sends the user back, as it is registered there.
///
/// - `http` on a loopback address: the SDK receives the redirect, on any free port if the URI names
///   no port. Register `127.0.0.1` or `[::1]`. Use `localhost` only if a server requires it; the
///   SDK then listens on both addresses. If the app's own web server listens on the port, the app
///   receives the redirect instead; see ``RedirectReceiver/app``.
/// - A private-use scheme, such as `com.example.app:/callback`, or https: the app receives the
///   redirect and passes it to ``AccountOperations/handleRedirect(_:)-(URL)``.
///
/// - SeeAlso: RFC 8252, section 7; RFC 6749, section 3.1.2
public struct RedirectURI: Sendable, Hashable {
  /// How a redirect reaches the client.
  enum Kind: Sendable, Hashable {
    case loopback(LoopbackRedirect)
    case app
  }

  /// The URI as the app wrote it.
  public let string: String
  let kind: Kind

  /// The part of the program that listens for the redirect: the SDK or the app.
  public var receiver: RedirectReceiver {
    switch kind {
    case .loopback: .sdk
    case .app: .app
    }
  }

  /// Creates a redirect URI from a text.
  ///
  /// Without a `receiver`, the SDK receives redirects to http on a loopback address, and the app
  /// receives all others.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` with the reason.
  public init(_ string: String, receiver: RedirectReceiver? = nil) throws(SQOAuthError) {
    guard !string.isEmpty else {
      throw SQOAuthError(.invalidConfiguration, "the redirect URI is empty")
    }
    guard EndpointURL.hasOnlyURLCharacters(string), let url = URL(string: string),
      let scheme = url.scheme?.asciiLowercased(), scheme.first?.isLetter == true,
      !string.contains("#"), url.user == nil, url.password == nil
    else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the redirect URI must be an absolute URI without user information and without a fragment")
    }
    self.string = string
    switch scheme {
    case "http":
      kind = try Self.kind(of: try LoopbackRedirect(url), receiver)
      return
    case "https":
      _ = try EndpointURL.check(string, name: "redirect URI")
    case "javascript", "data", "file", "about", "blob", "vbscript", "ftp", "ws", "wss":
      throw SQOAuthError(
        .invalidConfiguration, "\(scheme) cannot be the scheme of a redirect URI")
    default:
      break
    }
    guard receiver != .sdk else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the SDK can receive redirects only at http on a loopback address; leave out the redirect "
          + "receiver and pass the URL that your app receives to handleRedirect")
    }
    kind = .app
  }

  private static func kind(
    of redirect: LoopbackRedirect, _ receiver: RedirectReceiver?
  ) throws(SQOAuthError) -> Kind {
    guard receiver == .app else { return .loopback(redirect) }
    // Without a port the browser uses port 80, where few apps listen. So the port must be written,
    // even if it is ":80".
    guard redirect.port != nil else {
      throw SQOAuthError(
        .invalidConfiguration,
        "if your app's own web server receives the redirect, the redirect URI must name the "
          + "server's port, for example http://localhost:8080/callback")
    }
    return .app
  }

  /// Whether the URI has a private-use scheme without a dot, which another app may use by accident.
  ///
  /// - SeeAlso: RFC 8252, section 7.1
  public var hasWeakScheme: Bool {
    let scheme = string.prefix { $0 != ":" }.asciiLowercased()
    return scheme != "http" && scheme != "https" && !scheme.contains(".")
  }
}

/// The parts of a loopback redirect URI.
struct LoopbackRedirect: Sendable, Hashable {
  /// The host in lower case: `127.0.0.1`, `[::1]` or `localhost`.
  let host: String
  /// The port; `nil` for any free port, which the URI may also write as 0.
  let port: UInt16?
  /// The path; empty, or with a `/` at its start.
  let path: String
  /// The registered query; the query of every redirect must begin with it.
  let query: String?
  /// The scheme and the host as the app wrote them.
  private let root: String
  /// The port as the app wrote it, with its colon; empty if the app wrote none.
  private let writtenPort: String

  init(_ url: URL) throws(SQOAuthError) {
    let host = url.host()?.asciiLowercased() ?? ""
    guard ["127.0.0.1", "::1", "[::1]", "localhost"].contains(host) else {
      throw SQOAuthError(
        .invalidConfiguration,
        "an http redirect URI must have the host 127.0.0.1, [::1] or localhost")
    }
    guard let port = UInt16(exactly: url.port ?? 0) else {
      throw SQOAuthError(.invalidConfiguration, "the redirect URI's port is out of range")
    }
    self.host = host == "::1" ? "[::1]" : host
    self.port = port == 0 ? nil : port
    path = url.path(percentEncoded: true)
    query = url.query(percentEncoded: true)
    let written = EndpointURL.split(url.absoluteString).root
    // After the scheme's colon, only an IPv6 address in brackets or a port contains a colon.
    let colon = written.hasSuffix("]") ? nil : written.dropFirst("http:".count).lastIndex(of: ":")
    root = String(written[..<(colon ?? written.endIndex)])
    writtenPort = String(written[(colon ?? written.endIndex)...])
  }

  /// Returns the URI for the server, with the port that the SDK listens on.
  ///
  /// Everything else is as the app wrote it, because the server compares it with the registered
  /// text.
  func uri(port bound: UInt16) -> String {
    base(port: bound) + (query.map { "?" + $0 } ?? "")
  }

  /// Returns the URI for the server without its query.
  func base(port bound: UInt16) -> String {
    root + (bound == port ? writtenPort : ":\(bound)") + path
  }
}

extension ClientConfiguration {
  /// Returns the configuration with another redirect URI.
  ///
  /// If the URI is http on a loopback address, the SDK receives the redirect.
  package func redirecting(to uri: String) throws(SQOAuthError) -> ClientConfiguration {
    var configuration = self
    configuration.values.value.redirectURI = try RedirectURI(uri)
    return configuration
  }
}
