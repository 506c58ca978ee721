public import Dispatch

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The resources of one API, each behind a named ``Pipeline/Pipe``.
///
/// ```swift
/// let drive = try Pipeline("https://www.googleapis.com/drive/v2", module: SQOAuth.shared.module)
/// let files = try drive.add("files")
/// let list = try await files.read()
/// ```
///
/// Any method may be called from any thread.
public final class Pipeline: Sendable {
  /// What the paths of the pipes begin with, without a slash at the end.
  public let baseURL: URL
  /// Whose token every request carries.
  public let module: AuthorizationModule
  private let pipes = Registry<Pipe>(of: "a pipe")
  private let callbacks = Callbacks()

  /// Makes a pipeline without pipes; nothing is sent.
  ///
  /// - Throws: ``SQOAuthError/Code/invalidConfiguration`` for what is no http or https URL, or one
  ///   with a query, ``SQOAuthError/Code/insecureEndpoint`` for http to another machine.
  public init(_ baseURL: String, module: AuthorizationModule) throws(SQOAuthError) {
    self.baseURL = try PipeAddress.checkedBase(baseURL)
    self.module = module
  }

  /// Makes a pipeline without pipes; nothing is sent.
  public convenience init(baseURL: URL, module: AuthorizationModule) throws(SQOAuthError) {
    try self.init(baseURL.absoluteString, module: module)
  }

  /// Makes a pipe and keeps it under a name, which is its path too where none is given.
  ///
  /// The pipeline's server may see the tokens of the pipe's module from now on, unless the module's
  /// client lists its servers and this one is not among them.
  ///
  /// - Throws: ``SQOAuthError/Code/duplicateName`` where the name is taken, and that pipe stays;
  ///   ``SQOAuthError/Code/invalidConfiguration`` for an endpoint that is no path below the base.
  @discardableResult
  public func add(
    _ name: String, _ configuration: PipeConfiguration = PipeConfiguration()
  ) throws(SQOAuthError) -> Pipe {
    let endpoint = configuration.endpoint ?? FormCoding.encodePathSegment(name)
    let pipe = Pipe(
      name: name, address: try PipeAddress(base: baseURL, endpoint: endpoint),
      configuration: configuration, module: configuration.module ?? module, callbacks: callbacks)
    return try pipes.add(pipe, named: name)
  }

  /// The pipe of a name, if there is one.
  public func pipe(named name: String) -> Pipe? {
    pipes[name]
  }

  /// Takes a pipe out and returns it; what it has under way goes on.
  @discardableResult
  public func remove(_ name: String) -> Pipe? {
    pipes.remove(name)
  }

  /// The names, in order.
  public var names: [String] { pipes.names }

  /// Where completions without an actor of their own are called: the main queue, unless the app sets
  /// another.
  ///
  /// A closure that belongs to an actor is called on that actor.
  public var callbackQueue: DispatchQueue {
    get { callbacks.queue }
    set { callbacks.queue = newValue }
  }
}
