import Basics
public import Dispatch
public import SequencingOAuth

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A gRPC server and the credential for it, set once for any number of calls.
///
/// Creating a channel opens no connection. Calls at the same time share a connection, even calls of
/// different channels if these have the same TLS settings.
public final class RPCChannel: Sendable {
  /// The URL of the server: its scheme, host and port.
  public let url: URL
  /// The credential whose token the channel's calls carry.
  public let credential: RPCCredential
  /// The limits, the compression and the timeouts of the channel's calls.
  public let options: RPCOptions
  let callbacks: Callbacks
  let client: any HTTPClient
  /// The server's origin, or the reason why it must not get a token.
  let origin: Result<ResourceOrigin, SQOAuthError>
  /// The method that was called last, with its URL: many programs call one method again and again.
  private let lastURL = Locked<(method: String, url: URL)?>(nil)

  /// Creates a channel to a server: `https://host`, or `http://127.0.0.1:50051` without encryption.
  ///
  /// From now on the server may get the tokens of the credential's account, unless the account's
  /// client lists its servers and this server is not in the list.
  ///
  /// The channel uses HTTP/2 from the first byte; it ignores the version in the configuration.
  ///
  /// - Throws: ``RPCStatus/invalidArgument`` if the URL is anything else than `https` or `http`, a
  ///   host and a port.
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

  /// Creates a channel over the app's own HTTP client, which must use HTTP/2 and return trailers.
  ///
  /// From now on the server may get the tokens of the credential's account, unless the account's
  /// client lists its servers and this server is not in the list.
  ///
  /// - Throws: ``RPCStatus/invalidArgument`` if the URL is anything else than `https` or `http`, a
  ///   host and a port.
  public init(
    url: URL, credential: RPCCredential = .none, options: RPCOptions = RPCOptions(),
    client: any HTTPClient, callbackQueue: DispatchQueue = .main
  ) throws(RPCError) {
    let url = try Self.origin(url)
    self.url = url
    origin = Result { () throws(SQOAuthError) in try ResourceOrigin(url) }
    self.credential = credential
    if case .account(let module) = credential, case .success(let origin) = origin {
      module.addNamed(origin)
    }
    self.options = options
    self.client = client
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
      throw RPCError(
        .invalidArgument, "the server's URL cannot be used: \(error.message)", cause: error)
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

  /// The URL of a method.
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
      throw RPCError(.invalidArgument, "the method's name must be like /package.Service/Method")
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
