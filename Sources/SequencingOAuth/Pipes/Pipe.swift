public import Basics
import Dispatch

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Pipeline {
  /// The records of one resource: created, read, updated and removed with a valid token.
  ///
  /// Each operation has access first: the token at hand, or a refreshed one, or else the user signs
  /// in. Then it makes one request, and one more if the API refuses the token and another one can be
  /// had. It ends once, in a value or in a ``PipeError``; any number may run at the same time.
  public final class Pipe: Sendable {
    /// Its name in the ``Pipeline``.
    public let name: String
    /// How it asks.
    public let configuration: PipeConfiguration
    /// Whose token it carries.
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
      module.name(address.origin)
    }

    /// Ends every operation that is under way with ``PipeError/cancelled``; later ones are not touched.
    ///
    /// What others share goes on: the refresh of a token, a sign-in that somebody else waits for.
    public func cancel() {
      operations.cancelAll()
    }

    /// Runs an operation where ``cancel()`` reaches it.
    func run<Value: Sendable>(
      _ operation: @escaping @Sendable () async throws(PipeError) -> Value
    ) async throws(PipeError) -> Value {
      try await operations.run(operation).get()
    }

    /// Takes progress to a closure of the app, on its actor or the pipeline's queue.
    func relay(
      _ progress: (@isolated(any) (TransferProgress) -> Void)?
    ) -> ProgressRelay<TransferProgress>? {
      progress.map { ProgressRelay($0, callbacks) }
    }

    /// Runs an operation and calls the completion, once, on its actor or the pipeline's queue.
    func complete<Value: Sendable>(
      _ completion: @escaping @isolated(any) (Result<Value, PipeError>) -> Void,
      _ operation: @escaping @Sendable () async throws(PipeError) -> Value
    ) {
      let completion = Completion(completion)
      Task.startingHere { [operations, callbacks] in
        await callbacks.call(completion, with: await operations.run(operation))
      }
    }
  }
}

extension Pipeline.Pipe: Redacted {
  /// The pipe's name alone: its endpoint's query may hold a key.
  public var description: String { "pipe \(name)" }
}

// MARK: - One request

extension Pipeline.Pipe {
  /// A request to the URL of the records, or of one.
  func request(
    _ method: String, id: String? = nil, parameters: [String: String] = [:],
    body: HTTPRequestBody = .empty, contentType: String? = nil
  ) throws(PipeError) -> HTTPRequest {
    let url: URL
    do throws(SQOAuthError) {
      url = try address.url(id: id, parameters)
    } catch {
      throw .failed(error)
    }
    return request(method, url: url, body: body, contentType: contentType)
  }

  func request(
    _ method: String, url: URL, body: HTTPRequestBody = .empty, contentType: String? = nil
  ) -> HTTPRequest {
    var request = HTTPRequest(
      method: method, url: url, headers: ["Accept": "application/json"], body: body)
    if let contentType { request.headers["Content-Type"] = contentType }
    request.maximumResponseBytes = configuration.maximumResponseBytes
    let timeout = timeout
    request.timeout = timeout
    request.idleTimeout = timeout
    return request
  }

  /// What the pipe allows, or else its client; a client that is not registered fails later.
  private var timeout: Duration? {
    configuration.timeout ?? (try? module.context.configuration.get())?.timeout
      ?? HTTPRequestLimits().common
  }

  /// Runs an operation that is this request, whose content is in memory; returns an answer with a
  /// status of success.
  func perform(
    _ request: HTTPRequest, to origin: ResourceOrigin? = nil
  ) async throws(PipeError) -> HTTPResponse {
    guard let use = try tokenAtHand(for: origin) else {
      return try await run { () async throws(PipeError) in
        try await self.send(request, to: origin)
      }
    }
    let result: Result<HTTPResponse, PipeError>
    do throws(ResourceFailure) {
      result = try await operations.run { interruption async throws(ResourceFailure) in
        try await module.response(to: request, with: use, interruption)
      } isEnd: { response in
        response.status != 401 && response.status != 403
      } next: { response async throws(PipeError) in
        try await self.goOn(request, behind: response, use)
      }
    } catch {
      // Whoever cancelled the pipe has not cancelled this task.
      if case .noAnswer(let reason) = error, reason.code == .cancelled { throw .cancelled }
      throw Self.error(error)
    }
    return try Self.success(try result.get())
  }

  private func goOn(
    _ request: HTTPRequest, behind response: HTTPResponse, _ use: TokenUse
  ) async throws(PipeError) -> HTTPResponse {
    do throws(ResourceFailure) {
      return try await module.exchange(request, behind: response, to: use)
    } catch {
      throw Self.error(error)
    }
  }

  /// A valid token, if there is one and the client can be interrupted.
  private func tokenAtHand(for origin: ResourceOrigin?) throws(PipeError) -> TokenUse? {
    if Task.isCancelled { throw .cancelled }
    guard module.environment.httpClient is CurlHTTPClient else { return nil }
    do throws(SQOAuthError) {
      return try module.tokenUse(at: origin ?? address.origin)
    } catch {
      throw .failed(error)
    }
  }

  /// Gets access, sends the request, and returns an answer with a status of success.
  ///
  /// It goes to the pipe's own server where no other one is named.
  func send(
    _ request: HTTPRequest, to origin: ResourceOrigin? = nil
  ) async throws(PipeError) -> HTTPResponse {
    try Self.success(try await answer(to: request, from: origin))
  }

  private static func success(_ response: HTTPResponse) throws(PipeError) -> HTTPResponse {
    guard (200...299).contains(response.status) else {
      throw .refused(PipeError.Refusal(response, challenge: response.bearerChallenge))
    }
    return response
  }

  /// Gets access, sends the request, and returns what the API answers, but for a refused token.
  func answer(
    to request: HTTPRequest, from origin: ResourceOrigin? = nil
  ) async throws(PipeError) -> HTTPResponse {
    let use: TokenUse
    let origin = origin ?? address.origin
    do throws(SQOAuthError) {
      // First: nobody is to sign in for a request that cannot be sent.
      try module.check(origin)
    } catch {
      throw .failed(error)
    }
    do throws(SQOAuthError) {
      use = try await module.accessUse(for: origin)
    } catch {
      throw Task.isCancelled ? .cancelled : .noAccess(error)
    }
    do throws(ResourceFailure) {
      return try await module.exchange(request, with: use)
    } catch {
      throw Self.error(error)
    }
  }

  private static func error(_ failure: ResourceFailure) -> PipeError {
    if Task.isCancelled { return .cancelled }
    switch failure {
    case .noAccess(let error):
      return .noAccess(error)
    case .refused(let error, let response):
      return .refused(PipeError.Refusal(response, challenge: error.challenge))
    case .noAnswer(let error):
      return noAnswer(error)
    }
  }

  static func noAnswer(_ error: SQOAuthError) -> PipeError {
    // An error page that is too large to be read is still a refusal.
    if error.code == .responseTooLarge, let status = error.status, status > 299 {
      return .refused(PipeError.Refusal(HTTPResponse(status: status)))
    }
    return error.code == .requestTimedOut ? .timedOut(error) : .failed(error)
  }
}
