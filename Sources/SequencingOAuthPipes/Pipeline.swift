public import Dispatch
public import SQFoundation
public import SequencingOAuth

/// The resources of one API: each has a name and a ``Pipeline/Pipe`` that reads and changes it.
///
/// ```swift
/// let drive = try Pipeline("https://www.googleapis.com/drive/v2", module: SQOAuth.shared.module)
/// let files = try drive.add("files")
/// let list = try await files.read()
/// ```
///
/// All methods may be called on any thread.
public final class Pipeline: Sendable {
  /// The common beginning of all pipes' URLs, without a slash at the end.
  public let baseURL: URL
  /// The module that provides the token, unless a pipe's configuration specifies another module.
  public let module: AuthorizationModule
  private let pipes = Registry<Pipe>(of: "a pipe")
  private let callbacks = Callbacks()

  /// Creates a pipeline without pipes, from a base URL as text; it sends nothing.
  ///
  /// - Throws: `SQOAuthError.Code.invalidConfiguration` if the text is not an http or https URL
  ///   or has a query; `SQOAuthError.Code.insecureEndpoint` for http to another machine.
  public init(_ baseURL: String, module: AuthorizationModule) throws(SQOAuthError) {
    self.baseURL = try PipeAddress.checkedBase(baseURL)
    self.module = module
  }

  /// Creates a pipeline without pipes, from a base URL; it sends nothing.
  ///
  /// - Throws: `SQOAuthError.Code.invalidConfiguration` if the scheme is not http or https or the
  ///   URL has a query; `SQOAuthError.Code.insecureEndpoint` for http to another machine.
  public convenience init(baseURL: URL, module: AuthorizationModule) throws(SQOAuthError) {
    try self.init(baseURL.absoluteString, module: module)
  }

  /// Creates a pipe with a name and adds it; without an endpoint, the name is the pipe's path.
  ///
  /// After this call, the pipe's module may send its tokens to the pipeline's server, unless the
  /// client's `ClientConfiguration.resourceOrigins` lists servers and does not include this one.
  ///
  /// - Throws: `SQOAuthError.Code.duplicateName` if another pipe has the name; that pipe stays;
  ///   `SQOAuthError.Code.invalidConfiguration` if the endpoint is not a path below the base URL.
  @discardableResult
  public func add(
    _ name: String, _ configuration: PipeConfiguration = PipeConfiguration()
  ) throws(SQOAuthError) -> Pipe {
    let endpoint = configuration.endpoint ?? FormCoding.encodePathSegment(name)
    let pipe = Pipe(
      name: name, address: try PipeAddress(base: baseURL, endpoint: endpoint),
      configuration: configuration, module: configuration.module ?? module, callbacks: callbacks)
    let added = try pipes.add(pipe, named: name)
    added.module.addNamed(added.address.origin)
    return added
  }

  /// Returns the pipe with a name; `nil` if there is none.
  public func pipe(named name: String) -> Pipe? {
    pipes[name]
  }

  /// Removes a pipe and returns it; its running operations continue.
  @discardableResult
  public func remove(_ name: String) -> Pipe? {
    pipes.remove(name)
  }

  /// The names of all pipes, sorted.
  public var names: [String] { pipes.names }

  /// The queue that runs completions, by default the main queue.
  ///
  /// A closure that is isolated to an actor runs on that actor instead.
  public var callbackQueue: DispatchQueue {
    get { callbacks.queue }
    set { callbacks.queue = newValue }
  }
}
