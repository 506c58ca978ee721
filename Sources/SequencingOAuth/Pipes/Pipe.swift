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

    /// Runs an operation in a task of its own, which ``cancel()`` cancels.
    func run<Value: Sendable>(
      _ operation: @escaping @Sendable () async throws(PipeError) -> Value
    ) async throws(PipeError) -> Value {
      if Task.isCancelled { throw .cancelled }
      return try await operations.run { await $0.result(of: operation) }.get()
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
        let result = await operations.run { await $0.result(of: operation) }
        await callbacks.call(completion, with: result)
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

  /// Runs an operation that is one request; returns an answer with a status of success.
  ///
  /// The request goes to the pipe's own server if no other one is named.
  func perform(
    _ request: HTTPRequest, to origin: ResourceOrigin? = nil
  ) async throws(PipeError) -> HTTPResponse {
    if Task.isCancelled { throw .cancelled }
    let response = try await operations.run { interruption async throws(PipeError) in
      try await answer(to: request, from: origin ?? address.origin, interruption)
    }
    guard (200...299).contains(response.status) else {
      throw .refused(PipeError.Refusal(response, challenge: response.bearerChallenge))
    }
    return response
  }

  /// Gets access, sends the request, and returns what the API answers, but for a refused token.
  ///
  /// The interruption ends it, and so does the cancellation of the task.
  func answer(
    to request: HTTPRequest, from origin: ResourceOrigin, _ interruption: Interruption
  ) async throws(PipeError) -> HTTPResponse {
    do throws(ResourceFailure) {
      let use = try await access(to: origin, interruption)
      let response = try await module.response(to: request, with: use, interruption)
      if response.status != 401, response.status != 403 { return response }
      return try await interruption.result { [module] () async throws(ResourceFailure) in
        try await module.exchange(request, behind: response, to: use)
      }.get()
    } catch {
      if Task.isCancelled { throw .cancelled }
      if interruption.isRaised { throw .cancelled }
      throw Self.error(error)
    }
  }

  /// The valid token at hand, or else a refreshed one, or the one of a user who signs in now.
  private func access(
    to origin: ResourceOrigin, _ interruption: Interruption
  ) async throws(ResourceFailure) -> TokenUse {
    do throws(SQOAuthError) {
      // It refuses a server before a user signs in for a request that cannot be sent.
      if let use = try module.tokenUse(at: origin) { return use }
    } catch {
      throw .noAnswer(error)
    }
    do throws(SQOAuthError) {
      return try await interruption.result { [module] () async throws(SQOAuthError) in
        try await module.accessUse(for: origin)
      }.get()
    } catch {
      throw .noAccess(error)
    }
  }

  private static func error(_ failure: ResourceFailure) -> PipeError {
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
