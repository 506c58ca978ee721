import Basics
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One HTTP request of a call, and the reading of its response.
extension RPCCall {
  /// Sends the call once; the fields replace metadata with the same names.
  func attempt(
    _ metadata: RPCMetadata, _ fields: HTTPFields = [:]
  ) async throws(RPCError) -> Data {
    var request = try httpRequest(metadata)
    for field in fields { request.headers[field.name] = field.value }
    let secrets = SentSecrets(
      fields.map(\.value) + metadata.values(for: "authorization")
        + [metadata.oauth2AccessToken ?? ""] + fields.map { $0.value.afterSpace })
    return kind.receivesMany
      ? try await receiveMany(request, secrets) : try await receiveOne(request, secrets)
  }

  private func httpRequest(_ metadata: RPCMetadata) throws(RPCError) -> HTTPRequest {
    let options = channel.options
    var request = HTTPRequest(method: "POST", url: url)
    request.headers = [
      "content-type": "application/grpc", "te": "trailers", "user-agent": "grpc-sequencing-oauth",
      "grpc-accept-encoding": "identity,gzip",
      // gRPC compresses messages one by one; by itself, libcurl would accept a compressed body.
      "accept-encoding": "identity",
    ]
    if options.compression == .gzip { request.headers["grpc-encoding"] = "gzip" }
    request.idleTimeout = nil
    request.timeout = nil
    if let deadline = state.withLock(\.deadline) {
      let left = ContinuousClock.now.duration(to: deadline)
      guard let text = TimeoutField.text(left) else { throw .timeIsUp }
      request.timeout = left
      request.headers["grpc-timeout"] = text
    }
    metadata.write(to: &request.headers)
    if kind.sendsMany {
      request.body = .stream(length: nil) { [outbox] in { await outbox.next() } }
    } else {
      let frame = try MessageFrame(
        self.request, compression: options.compression, limit: options.maximumRequestBytes)
      request.body = .bytes(frame.bytes)
    }
    return request
  }

  // MARK: One message

  /// The largest response in bytes that libcurl keeps for a request that shares its connection.
  private static let largestInMemory = 8 << 20

  private func receiveOne(
    _ request: HTTPRequest, _ secrets: SentSecrets
  ) async throws(RPCError) -> Data {
    let limit = channel.options.maximumResponseBytes
    var request = request
    let (most, isUnbounded) = Int64(limit).addingReportingOverflow(
      Int64(MessageFrame.prefixLength))
    request.maximumResponseBytes = isUnbounded ? .max : most
    let content = Locked(Data())
    let isStreamed = kind.sendsMany || limit > Self.largestInMemory
    if isStreamed {
      request.destination = .stream { head, data in
        if data.isEmpty { self.stopSending(behind: RPCResponseHead(head, removing: secrets)) }
        content.withLock { $0.append(data) }
      }
    }
    let response = try await exchange(request)
    let body = isStreamed ? content.withLock(\.self) : response.body
    let head = RPCResponseHead(response.head, removing: secrets)
    take(head, response.trailers)
    if let failure = failure(head, response.trailers) { throw failure }
    return try message(body, head)
  }

  /// The one message of a call that succeeded.
  private func message(_ body: Data, _ head: RPCResponseHead) throws(RPCError) -> Data {
    let limit = channel.options.maximumResponseBytes
    var parser = FrameParser(limit: limit)
    let frames = head.hasMessages ? try parser.take(body) : []
    guard let frame = frames.first, frames.count == 1, parser.isAtEnd else {
      throw RPCError(
        .internal,
        frames.isEmpty && parser.isAtEnd
          ? "the server sent no message"
          : "the server sent more than one message, or only a part of one",
        metadata: responseMetadata)
    }
    return try frame.message(encoding: head.encoding, limit: limit)
  }

  // MARK: Any number of messages

  private func receiveMany(
    _ request: HTTPRequest, _ secrets: SentSecrets
  ) async throws(RPCError) -> Data {
    var request = request
    request.maximumResponseBytes = .max
    let parser = Locked(FrameParser(limit: channel.options.maximumResponseBytes))
    request.destination = .stream { head, data in
      let head = RPCResponseHead(head, removing: secrets)
      if data.isEmpty {
        self.take(head, nil)
        self.stopSending(behind: head)
      } else if head.hasMessages {
        let frames = try parser.withLock { parser throws(RPCError) in try parser.take(data) }
        await self.inbox.put(frames)
      }
    }
    let response = try await exchange(request)
    let head = RPCResponseHead(response.head, removing: secrets)
    take(head, response.trailers)
    if let failure = failure(head, response.trailers) { throw failure }
    guard parser.withLock(\.isAtEnd) else {
      throw RPCError(
        .internal, "the server ended the call inside a message", metadata: responseMetadata)
    }
    return Data()
  }

  // MARK: Both

  /// Stores the headers and, at the end, the trailers; does nothing if the call has ended.
  private func take(_ head: RPCResponseHead, _ trailers: HTTPFields?) {
    let headers = head.metadata
    let trailers = trailers.map(head.trailers)
    state.withLock { state in
      guard case .running = state.phase else { return }
      state.headers = headers
      state.encoding = head.encoding
      if let trailers { state.trailers = trailers }
    }
  }

  /// The error of a call that failed; `nil` if the call succeeded.
  ///
  /// libcurl 7.88 loses the end of the last call on a connection that the server is about to close
  /// (GOAWAY), and reports success. Then the status is missing.
  private func failure(_ head: RPCResponseHead, _ trailers: HTTPFields) -> RPCError? {
    guard let failure = head.failure(trailers) else { return nil }
    guard head.lacksStatus(trailers), channel.client.mayLoseEndOfResponse else { return failure }
    return RPCError(
      .unavailable, "the end of the response did not arrive; the server may be shutting down",
      metadata: failure.metadata)
  }

  /// Stops sending messages if the head is the whole response.
  private func stopSending(behind head: RPCResponseHead) {
    if head.isWholeAnswer { outbox.close() }
  }

  private func exchange(_ request: HTTPRequest) async throws(RPCError) -> HTTPResponse {
    do {
      return try await channel.client.send(request)
    } catch let error as SQOAuthError {
      // The cause is an `RPCError` if one of the closures above threw it.
      throw error.cause as? RPCError ?? RPCError(transport: error)
    } catch let error as RPCError {
      throw error
    } catch is CancellationError {
      throw .cancelled
    } catch {
      throw RPCError(.unavailable, "the HTTP client failed", cause: error)
    }
  }
}

extension String {
  /// The text after the first space: the token in `Bearer T`.
  fileprivate var afterSpace: String {
    firstIndex(of: " ").map { String(self[index(after: $0)...]) } ?? ""
  }
}
