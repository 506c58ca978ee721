import Basics
public import Dispatch
public import SequencingOAuth

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A server, and whose token the calls to it carry: set once, for any number of calls.
///
/// Making one costs nothing. Calls at the same time share a connection, also those of channels that
/// ask for the same TLS.
public final class RPCChannel: Sendable {
  /// The server: scheme, host and port.
  public let url: URL
  /// Whose token its calls carry.
  public let credential: RPCCredential
  /// What holds for its calls.
  public let options: RPCOptions
  let callbacks: Callbacks
  let client: any HTTPClient
  /// The server, where it may be shown a token.
  let origin: Result<ResourceOrigin, SQOAuthError>
  /// The one that was asked for last: many programs call one method again and again.
  private let lastURL = Locked<(method: String, url: URL)?>(nil)

  /// Makes a channel to a server: `https://host`, or `http://127.0.0.1:50051` in clear.
  ///
  /// The server may see the tokens of the credential's account from now on, unless the account's
  /// client lists its servers and this one is not among them.
  ///
  /// HTTP/2 is spoken from the first byte, whatever version the configuration names.
  ///
  /// - Throws: ``RPCStatus/invalidArgument`` where the URL is not that of a server.
  public convenience init(
    url: URL, credential: RPCCredential = .none, options: RPCOptions = RPCOptions(),
    configuration: HTTPClientConfiguration = HTTPClientConfiguration(),
    callbackQueue: DispatchQueue = .main
  ) throws(RPCError) {
    var configuration = configuration
    configuration.version = .http2PriorKnowledge
    try self.init(
      url: url, credential: credential, options: options,
      client: CurlHTTPClient(configuration: configuration), callbackQueue: callbackQueue)
  }

  /// Makes a channel over an HTTP client of the app's own, which must speak HTTP/2 and give
  /// trailers.
  ///
  /// - Throws: ``RPCStatus/invalidArgument`` where the URL is not that of a server.
  public init(
    url: URL, credential: RPCCredential = .none, options: RPCOptions = RPCOptions(),
    client: any HTTPClient, callbackQueue: DispatchQueue = .main
  ) throws(RPCError) {
    let url = try Self.origin(url)
    self.url = url
    origin = Result { () throws(SQOAuthError) in try ResourceOrigin(url) }
    self.credential = credential
    if case .account(let module) = credential, case .success(let origin) = origin {
      module.name(origin)
    }
    self.options = options
    self.client = client
    callbacks = Callbacks(queue: callbackQueue)
  }

  /// Where closures without an actor of their own are called: the main queue, unless another was
  /// given.
  ///
  /// A closure that belongs to an actor is called on that actor.
  public var callbackQueue: DispatchQueue { callbacks.queue }

  /// A URL without a path, so that a method's can stand behind it.
  private static func origin(_ url: URL) throws(RPCError) -> URL {
    do throws(SQOAuthError) {
      try url.checkedForRequest()
    } catch {
      throw RPCError(
        .invalidArgument, "the server's URL cannot be used: \(error.message)", cause: error)
    }
    var text = url.absoluteString
    if text.hasSuffix("/") { text.removeLast() }
    let rest = text.utf8.drop { $0 != UInt8(ascii: ":") }.dropFirst(3)
    guard !rest.contains(where: { "/?#".utf8.contains($0) }), let origin = URL(string: text) else {
      throw RPCError(.invalidArgument, "a gRPC server's URL has a scheme, a host and a port only")
    }
    return origin
  }

  /// Where a method is called.
  func url(of method: String) throws(RPCError) -> URL {
    if let last = lastURL.withLock(\.self), last.method == method { return last.url }
    let url = try checkedURL(of: method)
    lastURL.withLock { $0 = (method, url) }
    return url
  }

  private func checkedURL(of method: String) throws(RPCError) -> URL {
    let parts = method.split(separator: "/", omittingEmptySubsequences: false)
    let isWellFormed =
      parts.count == 3 && parts[0].isEmpty && parts.dropFirst().allSatisfy { !$0.isEmpty }
      && method.utf8.allSatisfy(Self.isMethodByte)
    guard isWellFormed, let url = URL(string: url.absoluteString + method) else {
      throw RPCError(.invalidArgument, "a method is named /package.Service/Method")
    }
    return url
  }

  private static func isMethodByte(_ byte: UInt8) -> Bool {
    switch byte {
    case _ where byte.isAlphanumeric: true
    case UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
    default: false
    }
  }
}
