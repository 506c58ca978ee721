public import Dispatch
import SQBasics
public import SQFoundation
import SQHTTP2
public import SequencingOAuth

/// A gRPC server and the credential for it, set once for any number of calls.
///
/// The first call opens a connection. All calls share one connection, even calls of different
/// channels if the channels have the same server, configuration and ``RPCOptions/keepAlive``. A
/// connection without calls is closed after two minutes.
///
/// If a connection breaks, its calls end with ``RPCStatus/unavailable`` and the reason; the next
/// call opens another connection. A connection can break without a sign, for example while the
/// machine sleeps: if a call reaches its time limit after at least 10 s in which the server sent
/// nothing, the next call opens another connection too. An attempt to connect takes at most 20 s,
/// and the server's first bytes may take another 20 s. After a failed attempt, calls wait before
/// the next attempt: 0.1 s at first, then twice as long each time, up to 5 s. If the server was
/// closing a connection and cannot have seen a call, the SDK makes the call on the next connection.
public final class RPCChannel: Sendable {
  /// The parts that all calls of a method have in common.
  struct CalledMethod {
    let name: String
    /// The header fields of a call.
    let block: HeaderBlock
    /// The URL of the method, which the proof of a token must contain.
    let url: URL
  }

  /// The URL of the server: its scheme, host and port.
  public let url: URL
  /// The credential that provides the token of the channel's calls.
  public let credential: RPCCredential
  /// The limits, the compression and the timeouts of the channel's calls.
  public let options: RPCOptions
  let callbacks: Callbacks
  /// The scheme of the URL; ``authority`` is the rest after `://`.
  let scheme: String
  let authority: String
  let peer: RPCPeer
  /// The value of `user-agent` in gRPC's form: the app, then the library.
  private let userAgent: String
  /// The most recently called method, for programs that call it repeatedly.
  private let lastMethod = Locked<CalledMethod?>(nil)
  /// The server's origin, or the reason why it must not get a token.
  let origin: Result<ResourceOrigin, SQOAuthError>

  /// Creates a channel to a server: `https://host`, or `http://127.0.0.1:50051` without encryption.
  ///
  /// This also allows the server to get the tokens of the credential's account, unless the
  /// account's client lists its servers and does not list this server.
  ///
  /// The channel speaks only HTTP/2 and ignores the version in the configuration. Its calls send
  /// the name of this library as `user-agent`. If the configuration has a `userAgent` that is not
  /// the default, that text comes first.
  ///
  /// - Throws: ``RPCStatus/invalidArgument`` unless the URL consists of `https` or `http`, a host
  ///   and an optional port.
  public init(
    url: URL, credential: RPCCredential = .none, options: RPCOptions = RPCOptions(),
    configuration: HTTPTransportConfiguration = HTTPTransportConfiguration(),
    callbackQueue: DispatchQueue = .main
  ) throws(RPCCallError) {
    let url = try Self.origin(url)
    self.url = url
    let parts = url.absoluteString.split(separator: "/", maxSplits: 2)
    (scheme, authority) = (String(parts[0].dropLast()).lowercased(), String(parts[1]))
    do throws(SQOAuthError) {
      peer = try RPCPeer.shared(
        RPCPeer.Key(url: url, configuration: configuration, keepAlive: options.pingInterval))
    } catch {
      throw RPCCallError(invalidURL: error)
    }
    userAgent = Self.userAgent(after: configuration.userAgent)
    origin = Result { () throws(SQOAuthError) in try ResourceOrigin(url) }
    self.credential = credential
    if case .account(let module) = credential, case .success(let origin) = origin {
      module.addNamed(origin)
    }
    self.options = options
    callbacks = Callbacks(queue: callbackQueue)
  }

  /// The queue for closures without an actor; the main queue by default.
  ///
  /// A closure that is isolated to an actor runs on that actor.
  public var callbackQueue: DispatchQueue { callbacks.queue }

  /// Checks the server's URL and removes its final slash.
  private static func origin(_ url: URL) throws(RPCCallError) -> URL {
    do throws(SQOAuthError) {
      try url.checkedForRequest()
    } catch {
      throw RPCCallError(invalidURL: error)
    }
    let (root, tail) = EndpointURL.split(url.absoluteString)
    guard tail.isEmpty || tail == "/", !root.contains("#"), let origin = URL(string: root) else {
      throw RPCCallError(
        .invalidArgument,
        "a gRPC server's URL must have only a scheme, a host and, if needed, a port")
    }
    return origin
  }

  /// Returns the parts that all calls of a method have in common.
  ///
  /// - Throws: ``RPCStatus/invalidArgument`` if the text is not the path of a method.
  func called(_ method: String) throws(RPCCallError) -> CalledMethod {
    if let last = lastMethod.withLock({ $0 }), last.name == method { return last }
    try Self.check(method)
    var block = HeaderBlock([
      ":method": "POST", ":scheme": scheme, ":path": method, ":authority": authority,
      "te": "trailers", "content-type": "application/grpc",
      "user-agent": userAgent, "grpc-accept-encoding": "identity,gzip",
    ])
    if options.compression == .gzip { block.append("grpc-encoding", "gzip") }
    let called = CalledMethod(
      name: method, block: block, url: URL(string: url.absoluteString + method) ?? url)
    lastMethod.withLock { $0 = called }
    return called
  }

  private static func userAgent(after app: String?) -> String {
    let library = "grpc-sequencing-oauth/\(Release.version)"
    guard let app, app != HTTPTransportConfiguration.defaultUserAgent else { return library }
    return "\(app) \(library)"
  }

  /// Throws unless the text is the path of a method: `/package.Service/Method`.
  private static func check(_ method: String) throws(RPCCallError) {
    let path = method.utf8
    let name = path.dropFirst().drop { $0 != UInt8(ascii: "/") }
    let isWellFormed =
      path.first == UInt8(ascii: "/") && name.count > 1 && name.count < path.count - 1
      && path.allSatisfy(isMethodByte) && !name.dropFirst().contains(UInt8(ascii: "/"))
    guard isWellFormed else {
      throw RPCCallError(.invalidArgument, "the method's name must be like /package.Service/Method")
    }
  }

  private static func isMethodByte(_ byte: UInt8) -> Bool {
    switch byte {
    case _ where byte.isAlphanumeric: true
    case UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
    default: false
    }
  }
}

extension RPCCallError {
  fileprivate init(invalidURL error: SQOAuthError) {
    self.init(.invalidArgument, "the server's URL cannot be used: \(error.message)", cause: error)
  }
}
