import Dispatch
public import SQBasics
import SQFoundation
public import SequencingOAuth

extension Pipeline {
  /// A client that creates, reads, updates and deletes the records of one API resource.
  ///
  /// Each operation first gets a token: it uses the stored token if it is valid, otherwise
  /// refreshes it, and if that is not possible, signs the user in. Then it sends one request. If
  /// the API refuses the token and another token is available, it sends the request once more. Each
  /// operation ends once, with a value or with a ``PipeError``. Any number of operations may run at
  /// the same time, on any thread.
  public final class Pipe: Sendable {
    /// The pipe's name in its ``Pipeline``.
    public let name: String
    /// The path, the limits and the JSON coders of the pipe's requests.
    public let configuration: PipeConfiguration
    /// The module that provides the token for the pipe's requests.
    public let module: AuthorizationModule
    let address: PipeAddress
    private let callbacks: Callbacks
    private let operations = RunningOperations()

    init(
      name: String, address: PipeAddress, configuration: PipeConfiguration,
      module: AuthorizationModule, callbacks: Callbacks
    ) {
      self.name = name
      self.address = address
      self.configuration = configuration
      self.module = module
      self.callbacks = callbacks
    }

    /// Ends all running operations with ``PipeError/cancelled``.
    ///
    /// Later operations are not affected. A token refresh continues, and so does a sign-in if
    /// another caller waits for it.
    public func cancel() {
      operations.cancelAll()
    }

    /// Runs an operation in a separate task, so that ``cancel()`` can cancel it.
    func run<Value: Sendable>(
      _ operation: @escaping @Sendable () async throws(PipeError) -> Value
    ) async throws(PipeError) -> Value {
      if Task.isCancelled { throw .cancelled }
      return try await operations.run { await $0.result(of: operation) }.get()
    }

    /// Creates a relay that calls the app's progress closure, on its actor or the pipeline's queue.
    func relay(
      _ progress: (@isolated(any) (TransferProgress) -> Void)?
    ) -> ProgressRelay<TransferProgress>? {
      progress.map { ProgressRelay($0, callbacks) }
    }

    /// Runs an operation and calls the completion once, on its actor or the pipeline's queue.
    func complete<Value: Sendable>(
      _ completion: @escaping @isolated(any) (Result<Value, PipeError>) -> Void,
      _ operation: @escaping @Sendable () async throws(PipeError) -> Value
    ) {
      let completion = Completion(completion)
      // `cancel()` ends the operation from now on, even before its task runs.
      let (id, interruption) = operations.begin()
      // The task does not start on this thread: the app may be on its main thread, or may hold a
      // lock that its store or its HTTP client needs.
      Task { [operations, callbacks] in
        let result = await interruption.result { () async throws(PipeError) in
          if interruption.isRaised { throw .cancelled }
          return try await operation()
        }
        operations.end(id)
        await callbacks.call(completion, with: result)
      }
    }
  }
}

extension Pipeline.Pipe: Redacted {
  /// The pipe's name, without the endpoint, because the endpoint's query may contain a key.
  public var description: String { "pipe \(name)" }
}

// MARK: - One request

extension Pipeline.Pipe {
  /// Returns a request to the pipe's URL or, with an id, to the URL of a record.
  func request(
    _ method: String, id: String? = nil, parameters: [String: String] = [:],
    body: WebRequestBody = .empty, contentType: String? = nil
  ) throws(PipeError) -> WebRequest {
    let url: URL
    do throws(SQOAuthError) {
      url = try address.url(id: id, parameters)
    } catch {
      throw .failed(error)
    }
    return request(method, url: url, body: body, contentType: contentType)
  }

  func request(
    _ method: String, url: URL, body: WebRequestBody = .empty, contentType: String? = nil
  ) -> WebRequest {
    var request = WebRequest(
      method: method, url: url, headers: ["Accept": "application/json"], body: body)
    if let contentType { request.headers["Content-Type"] = contentType }
    request.maximumResponseBytes = configuration.maximumResponseBytes
    let timeout = timeout
    request.timeout = timeout
    request.idleTimeout = timeout
    return request
  }

  /// The pipe's own time limit or, without it, the client's time limit.
  ///
  /// If no client is registered, this is the default limit, and the request fails later.
  private var timeout: Duration? {
    configuration.timeout ?? (try? module.context.configuration.get())?.timeout
      ?? WebRequestLimits().standard
  }

  /// Runs an operation with one request, and returns the response if its status is from 200 to 299.
  func perform(_ request: WebRequest) async throws(PipeError) -> WebResponse {
    try await operations.run { interruption async throws(PipeError) in
      try await success(of: request, interruption)
    }
  }

  /// Runs an operation with one request, and parses the response's JSON.
  ///
  /// By default, the request goes to the pipe's own server, and belongs to no series. It throws the
  /// same errors as ``perform(_:)``.
  func read(
    _ request: WebRequest, to origin: ResourceOrigin? = nil, in series: RequestSeries? = nil
  ) async throws(PipeError) -> PipeAnswer {
    try await operations.run { interruption async throws(PipeError) in
      let response = try await success(of: request, from: origin, in: series, interruption)
      return try await PipeAnswer(response, configuration.decoder(), interruption)
    }
  }

  private func success(
    of request: WebRequest, from origin: ResourceOrigin? = nil, in series: RequestSeries? = nil,
    _ interruption: Interruption
  ) async throws(PipeError) -> WebResponse {
    if Task.isCancelled { throw .cancelled }
    return try await answer(to: request, from: origin ?? address.origin, in: series, interruption)
  }

  /// Gets a token, sends the request and returns the API's response if its status is from 200 to
  /// 299.
  ///
  /// Both the interruption and the cancellation of the task end the operation.
  func answer(
    to request: WebRequest, from origin: ResourceOrigin, in series: RequestSeries?,
    _ interruption: Interruption
  ) async throws(PipeError) -> WebResponse {
    let response: WebResponse
    let authorization: RequestAuthorization
    do throws(ResourceFailure) {
      let owner = series?.owner ?? module.session.owner
      let use = try await access(to: origin, of: owner, interruption)
      series?.owner = use.owner
      let first = try await self.authorization(of: use, for: request, interruption)
      let answer = try await module.response(to: request, with: first, interruption)
      if answer.status < 400 {
        first.learn(answer.headers)
        (response, authorization) = (answer, first)
      } else {
        (response, authorization) = try await interruption.result {
          [module] () async throws(ResourceFailure) in
          try await module.exchange(request, behind: answer, to: first)
        }.get()
      }
    } catch {
      throw Self.error(error, interruption)
    }
    guard (200...299).contains(response.status) else {
      let challenge = authorization.challenge(in: response.headers)
      throw .refused(PipeError.Refusal(response, challenge: challenge))
    }
    return response
  }

  /// Returns the stored token if it is valid; otherwise refreshes it or signs the user in.
  func access(
    to origin: ResourceOrigin, of owner: RequestOwner, _ interruption: Interruption
  ) async throws(ResourceFailure) -> AddressedToken {
    do throws(SQOAuthError) {
      // A server that is not allowed is rejected at this point, before the user signs in for
      // nothing.
      if let use = try module.addressedToken(at: origin, of: owner) { return use }
    } catch {
      throw .noAnswer(error)
    }
    do throws(SQOAuthError) {
      return try await interruption.result { [module] () async throws(SQOAuthError) in
        try await module.addressedAccess(for: origin, of: owner)
      }.get()
    } catch {
      throw .noAccess(error)
    }
  }

  /// Returns the fields for the first attempt to send a request.
  private func authorization(
    of use: AddressedToken, for request: WebRequest, _ interruption: Interruption
  ) async throws(ResourceFailure) -> RequestAuthorization {
    // If the authorization needs no code of the app, there is nothing to wait for, and a separate
    // task would only take time.
    guard use.needsCodeOfApp else {
      return try await module.authorization(of: use, for: request)
    }
    return try await interruption.result { [module] () async throws(ResourceFailure) in
      try await module.authorization(of: use, for: request)
    }.get()
  }

  static func error(_ failure: ResourceFailure, _ interruption: Interruption) -> PipeError {
    if Task.isCancelled || interruption.isRaised { return .cancelled }
    switch failure {
    case .noAccess(let error):
      return .noAccess(error)
    case .refused(let error, let response):
      return .refused(PipeError.Refusal(response, oauthError: error))
    case .noAnswer(let error):
      return noAnswer(error)
    }
  }

  static func noAnswer(_ error: SQOAuthError) -> PipeError {
    // An error page that is too large to read still counts as a refusal.
    if error.code == .responseTooLarge, let status = error.status, status > 299 {
      return .refused(PipeError.Refusal(WebResponse(status: status)))
    }
    return error.code == .requestTimedOut ? .timedOut(error) : .failed(error)
  }
}
