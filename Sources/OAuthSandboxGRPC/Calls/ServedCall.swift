import OAuthSandbox
import SQBasics
import SQHTTP2
import SQLoopbackHTTP2

/// A call to the server, from its head to its status.
struct ServedCall: Sendable {
  /// The time limit for a client to send its message.
  private static let requestTime: Duration = .seconds(30)
  /// The time limit for a client to send the rest of a rejected request.
  private static let patience: Duration = .seconds(1)

  private let exchange: HTTP2Exchange
  private let sandbox: SandboxServer
  private let scope: String?
  private let answer: CallAnswer

  init(_ exchange: HTTP2Exchange, of sandbox: SandboxServer, scope: String?) {
    self.exchange = exchange
    self.sandbox = sandbox
    self.scope = scope
    answer = CallAnswer(exchange, of: sandbox)
  }

  /// Serves the call to its end.
  ///
  /// If the task is cancelled, the call ends without an answer.
  func run() async {
    do throws(CallHead.Refusal) {
      let head = try CallHead(exchange)
      end(await status(of: head))
    } catch {
      await refuse(error)
    }
  }

  private func refuse(_ refusal: CallHead.Refusal) async {
    switch refusal {
    case .call(let status): end(status)
    case .http(let status, let name, let value):
      // Some HTTP clients do not understand an answer before they have sent the whole request.
      _ = await exchange.content.wait(until: .now + Self.patience)
      answer.refuse(status, name, value)
    }
  }

  /// Ends the call with a status, and with the nonce that the sandbox offers in every answer.
  private func end(_ status: CallStatus) {
    let nonce = sandbox.nonceField(afterSuccess: status.code == .ok)
    answer.end(nonce.map(status.adding) ?? status)
  }

  /// Serves the call within the client's time limit.
  private func status(of head: CallHead) async -> CallStatus {
    guard let timeout = head.timeout else { return await serve(head) }
    let end = ContinuousClock.now + timeout.bounded
    // The group also waits for the slower task, so nothing is sent after the status.
    return await withTaskGroup(of: CallStatus.self) { group in
      group.addTask {
        try? await Task.sleep(until: end, clock: .continuous)
        return .deadlineExceeded
      }
      group.addTask { await serve(head) }
      defer { group.cancelAll() }
      return await group.next() ?? .cancelled
    }
  }

  private func serve(_ head: CallHead) async -> CallStatus {
    do throws(CallStatus) {
      // The message is read only after the caller is authorized.
      let access = try access(head)
      let message = try await message(head)
      switch head.method {
      case .unaryCall: try await unaryCall(message, access)
      case .streamingOutputCall: try await streamingOutputCall(message, access)
      }
      return .ok
    } catch {
      return error
    }
  }

  private func unaryCall(_ message: ArraySlice<UInt8>, _ access: TokenAccess)
    async throws(CallStatus)
  {
    let request = try TestService.Request(message)
    try await answer.send(TestService.Response(access, for: request).bytes)
  }

  private func streamingOutputCall(_ message: ArraySlice<UInt8>, _ access: TokenAccess)
    async throws(CallStatus)
  {
    let request = try TestService.StreamingRequest(message)
    for parameters in request.responses {
      if parameters.interval > .zero { try? await Task.sleep(for: parameters.interval) }
      if Task.isCancelled { throw .cancelled }
      // The token may have expired or been revoked since the last message.
      try check(access)
      try await answer.send(TestService.StreamingResponse(access, size: parameters.size).bytes)
    }
  }

  private func access(_ head: CallHead) throws(CallStatus) -> TokenAccess {
    do throws(TokenRefusal) {
      return try sandbox.access(head.provable, anyOf: scope.map { [$0] })
    } catch {
      throw CallStatus(error)
    }
  }

  private func check(_ access: TokenAccess) throws(CallStatus) {
    do throws(TokenRefusal) {
      try sandbox.check(access)
    } catch {
      throw CallStatus(error)
    }
  }

  /// Returns the single message of the request.
  private func message(_ head: CallHead) async throws(CallStatus) -> ArraySlice<UInt8> {
    switch await exchange.content.wait(until: .now + Self.requestTime) {
    case .whole(let bytes):
      return try MessageFrame.onlyMessage(in: bytes, isEncoded: head.isEncoded)
    case .tooLarge: throw MessageFrame.tooLarge
    case .cut: throw .cancelled
    case nil where Task.isCancelled: throw .cancelled
    case nil: throw .noMessage
    }
  }
}
