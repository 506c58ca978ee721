public import Dispatch
import SQBasics
import SQHTTP2
public import SequencingOAuth

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A gRPC server and the credential for it, set once for any number of calls.
///
/// Creating a channel opens no connection: the first call does. All calls share one connection, even
/// calls of different channels if these have the same server, configuration and
/// ``RPCOptions/keepAlive``. A connection without calls is closed after two minutes.
///
/// If a connection breaks, its calls end with ``RPCStatus/unavailable`` and the reason; the next
/// call opens another. An attempt to connect takes at most 20 s, and the server's first bytes may
/// take as long again. After an attempt that failed, calls wait before the next one: 0.1 s, and twice
/// as long each time, up to 5 s. A call that the server cannot have seen, because it was closing the
/// connection, is made on the next connection.
public final class RPCChannel: Sendable {
  /// The URL of the server: its scheme, host and port.
  public let url: URL
  /// The credential whose token the channel's calls carry.
  public let credential: RPCCredential
  /// The limits, the compression and the timeouts of the channel's calls.
  public let options: RPCOptions
  let callbacks: Callbacks
  /// The scheme of the URL, and the rest after `://`.
  let scheme: String
  let authority: String
  let peer: RPCPeer
  /// The field `user-agent`, as gRPC writes it: the app, then the library.
  private let userAgent: String
  /// The method that was called last, since many programs call one again and again.
  private let lastBlock = Locked<(method: String, block: HeaderBlock)?>(nil)
  /// The server's origin, or the reason why it must not get a token.
  let origin: Result<ResourceOrigin, SQOAuthError>

  /// Creates a channel to a server: `https://host`, or `http://127.0.0.1:50051` without encryption.
  ///
  /// From now on the server may get the tokens of the credential's account, unless the account's
  /// client lists its servers and this server is not in the list.
  ///
  /// The channel speaks HTTP/2 only; it ignores the version in the configuration. Its calls name
  /// the configuration's `userAgent` before this library.
  ///
  /// - Throws: ``RPCStatus/invalidArgument`` if the URL is anything else than `https` or `http`, a
  ///   host and a port.
  public init(
    url: URL, credential: RPCCredential = .none, options: RPCOptions = RPCOptions(),
    configuration: HTTPClientConfiguration = HTTPClientConfiguration(),
    callbackQueue: DispatchQueue = .main
  ) throws(RPCError) {
    let url = try Self.origin(url)
    self.url = url
    let parts = url.absoluteString.split(separator: "/", maxSplits: 2)
    (scheme, authority) = (String(parts[0].dropLast()).lowercased(), String(parts[1]))
    do throws(SQOAuthError) {
      peer = try RPCPeer.shared(
        RPCPeer.Key(url: url, configuration: configuration, keepAlive: options.pingInterval))
    } catch {
      throw RPCError(invalidURL: error)
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

  /// The queue on which the SDK calls closures that belong to no actor; the main queue by default.
  ///
  /// A closure that belongs to an actor is called on that actor.
  public var callbackQueue: DispatchQueue { callbacks.queue }

  /// Checks the server's URL and removes its last slash, so that a method's path can be appended.
  private static func origin(_ url: URL) throws(RPCError) -> URL {
    do throws(SQOAuthError) {
      try url.checkedForRequest()
    } catch {
      throw RPCError(invalidURL: error)
    }
    var text = url.absoluteString
    if text.hasSuffix("/") { text.removeLast() }
    let rest = text.utf8.drop { $0 != UInt8(ascii: ":") }.dropFirst(3)
    guard !rest.contains(where: { "/?#".utf8.contains($0) }), let origin = URL(string: text) else {
      throw RPCError(
        .invalidArgument, "a gRPC server's URL must have a scheme, a host and a port only")
    }
    return origin
  }

  /// The fields that each call of a method begins with.
  ///
  /// - Throws: ``RPCStatus/invalidArgument`` if the text is not the path of a method.
  func block(for method: String) throws(RPCError) -> HeaderBlock {
    if let last = lastBlock.withLock({ $0 }), last.method.utf8.elementsEqual(method.utf8) {
      return last.block
    }
    try Self.check(method)
    var block = HeaderBlock([
      ":method": "POST", ":scheme": scheme, ":path": method, ":authority": authority,
      "te": "trailers", "content-type": "application/grpc",
      "user-agent": userAgent, "grpc-accept-encoding": "identity,gzip",
    ])
    if options.compression == .gzip { block.append("grpc-encoding", "gzip") }
    lastBlock.withLock { [block] in $0 = (method, block) }
    return block
  }

  private static func userAgent(after app: String?) -> String {
    let library = "grpc-sequencing-oauth/\(Release.version)"
    guard let app, app != HTTPClientConfiguration.defaultUserAgent else { return library }
    return "\(app) \(library)"
  }

  /// Throws unless a text is the path of a method: `/package.Service/Method`.
  private static func check(_ method: String) throws(RPCError) {
    let path = method.utf8
    let name = path.dropFirst().drop { $0 != UInt8(ascii: "/") }
    let isWellFormed =
      path.first == UInt8(ascii: "/") && name.count > 1 && name.count < path.count - 1
      && path.allSatisfy(isMethodByte) && !name.dropFirst().contains(UInt8(ascii: "/"))
    guard isWellFormed else {
      throw RPCError(.invalidArgument, "the method's name must be like /package.Service/Method")
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

extension RPCError {
  fileprivate init(invalidURL error: SQOAuthError) {
    self.init(.invalidArgument, "the server's URL cannot be used: \(error.message)", cause: error)
  }
}
