import SQFiles
import SQFoundation

/// A request for which async code makes the body or consumes the response during the transfer.
///
/// Three tasks run concurrently: one makes the body, one consumes the response, and the caller
/// waits for the transfer. All have ended when ``run(_:)`` returns.
struct StreamedExchange {
  let transfer: CurlTransfer
  let loop: CurlEventLoop

  /// Runs the request; `wait` must start the transfer and return when it has ended.
  func run(_ wait: @Sendable () async -> Void) async throws(SQOAuthError) -> WebResponse {
    async let _: Void = produce()
    async let consumed = consume()
    await wait()
    // Content that arrived before the connection broke is delivered, so that a resumed download
    // starts at the byte after it.
    if transfer.hasLostServer { _ = await consumed }
    // An error thrown after this point cancels both tasks and waits for them.
    var response = try transfer.response()
    let (sink, error) = await consumed
    if let error { throw error }
    guard let sink else { return response }
    do { try await sink.finish() } catch { throw Self.wrap(error) }
    response.body = sink.body
    return response
  }

  private func produce() async {
    await transfer.upload?.produce { loop.resume(transfer) }
  }

  private func consume() async -> (sink: ResponseSink?, error: SQOAuthError?) {
    guard let queue = transfer.download else { return (nil, nil) }
    do {
      var sink = ResponseSink(transfer.request.destination)
      while let event = await queue.next() {
        try Task.checkCancellation()
        switch event {
        case .head(let head): try await sink.begin(head)
        case .content(let data, let wasHalted):
          if wasHalted { loop.resume(transfer) }
          try await sink.take(data)
        }
      }
      return (sink, nil)
    } catch {
      let error = Self.wrap(error)
      loop.end(transfer, error)
      return (nil, error)
    }
  }

  private static func wrap(_ error: any Error) -> SQOAuthError {
    switch error {
    case let error as SQOAuthError: error
    case let error as FileFailure:
      SQOAuthError(
        .malformedRequest, "the file for the response cannot be written: \(error)",
        cause: FileError(error))
    default:
      SQOAuthError(
        .cancelled, "the closure that consumes the response threw an error; see the cause",
        cause: error)
    }
  }
}

/// A writer of one response's content to a file, a closure or memory.
private struct ResponseSink {
  private let destination: HTTPDestination
  private var head: WebResponseHead?
  private var file: OpenFile?
  /// The content that stays in memory, for example because the status is not 2xx: such a response
  /// must not overwrite a file.
  private(set) var body = Data()

  init(_ destination: HTTPDestination) {
    self.destination = destination
  }

  mutating func begin(_ head: WebResponseHead) async throws {
    self.head = head
    switch destination {
    case .memory: break
    case .file(let url): if (200...299).contains(head.status) { file = try await .writing(url) }
    case .stream(let consume): try await consume(head, Data())
    }
  }

  mutating func take(_ data: Data) async throws {
    if case .stream(let consume) = destination, let head {
      try await consume(head, data)
    } else if let file {
      try await file.append(data)
    } else {
      body += data
    }
  }

  /// Waits until the content is on the disk, after the whole response has arrived.
  func finish() async throws(FileFailure) {
    try await file?.finish()
  }
}
