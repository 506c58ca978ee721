import SQBasics
import SQFoundation
import SequencingOAuth

/// One request of a download, and its result.
///
/// Only one task at a time uses it: first the task that sends the request, then, while the response
/// arrives, the task that consumes the response, and after that the sending task again.
final class DownloadAttempt: @unchecked Sendable {
  /// The error with which the SDK ended the transfer; `nil` if the SDK did not end it.
  private(set) var failure: SQOAuthError?
  /// The number of the file's bytes that the attempt has received.
  private(set) var receivedBytes: Int64 = 0

  /// The kinds of responses to the request.
  private enum Answer {
    /// No response has begun.
    case none
    /// The content, up to but not including byte `end`; `nil` if the end is unknown.
    case content(end: Int64?)
    /// A response that is not the content, with its body.
    case refusal(Data)
    /// Content that does not continue the partial file.
    case misfit
    /// The partial file already has all bytes.
    case complete
  }

  private let download: ResumableDownload
  private let partial: PartialFile
  private let meter: TransferMeter?
  private let timeout: Duration?
  /// The position of the first requested byte.
  private let start: Int64
  private var answer = Answer.none
  private var head: WebResponseHead?
  /// The length of the whole file.
  private var total: Int64?

  init(
    _ download: ResumableDownload, _ partial: PartialFile, _ meter: TransferMeter?,
    timeout: Duration?
  ) {
    self.download = download
    self.partial = partial
    self.meter = meter
    self.timeout = timeout
    // If the file is complete, its last byte is requested again: if the server sends it as part of
    // the same content, the other bytes are still current.
    let last = (partial.record?.total ?? .max) - 1
    start = partial.record == nil ? 0 : max(0, min(partial.length, last))
  }

  /// Whether the partial file contains the whole file.
  var isComplete: Bool {
    switch answer {
    case .content: partial.length == total ?? partial.length
    case .complete: true
    case .none, .refusal, .misfit: false
    }
  }

  /// Whether the server's content does not continue the partial file.
  var isMisfit: Bool {
    if case .misfit = answer { true } else { false }
  }

  /// Whether the server continued the content at the requested position.
  var isContinuation: Bool { head?.status == 206 }

  /// Sends the request; returns the response that completed the file or that refused the request.
  func run(_ send: ResumableDownload.Send) async throws(SQOAuthError) -> WebResponse {
    var response: WebResponse
    do throws(SQOAuthError) {
      response = try await send(request())
    } catch {
      // The HTTP client may have replaced this attempt's own error with a different error.
      throw failure ?? error
    }
    if let failure { throw failure }
    switch answer {
    case .refusal where start > 0 && response.status == 416 && isWhole(response.head):
      answer = .complete
      return WebResponse(status: 200, headers: response.headers)
    case .refusal where start > 0 && Self.refusesPart(response.status):
      throw misfit()
    case .refusal(let body):
      response.body = body
      return response
    default:
      guard isComplete else {
        throw SQOAuthError(
          .connectionFailed, "the server's answer ended before the end of the file")
      }
      return response
    }
  }

  /// Creates a request to which the server answers with the missing bytes if the resource is
  /// unchanged, and otherwise with all bytes (`If-Range`).
  private func request() -> WebRequest {
    var request = download.request
    // Positions count bytes of the file, so the server must not encode them.
    request.headers["Accept-Encoding"] = "identity"
    if start > 0, let record = partial.record {
      request.headers["Range"] = "bytes=\(start)-"
      request.headers["If-Range"] = record.validator
    }
    request.maximumResponseBytes = .max
    request.timeout = timeout
    request.destination = .stream { [self] head, data in try await take(head, data) }
    return request
  }

  // MARK: The response

  private func take(_ head: WebResponseHead, _ data: Data) async throws(SQOAuthError) {
    do throws(SQOAuthError) {
      if !data.isEmpty {
        try await append(data)
      } else if case .content = answer, head == self.head {
        // An empty piece of the content changes nothing.
      } else {
        // A second response may begin after a token was refreshed.
        try await begin(head)
      }
    } catch {
      failure = error
      throw error
    }
  }

  private func begin(_ head: WebResponseHead) async throws(SQOAuthError) {
    self.head = head
    switch head.status {
    case 206 where start > 0: try await beginPart(head)
    case 206:
      throw SQOAuthError(
        .invalidResponse, "the server sent a part of the file to a request for the whole file")
    case 200...299: try await beginWhole(head)
    default: answer = .refusal(Data())
    }
  }

  private func beginWhole(_ head: WebResponseHead) async throws(SQOAuthError) {
    let announced = head.headers["Content-Length"].flatMap { ContentRange.number($0) }
    total = head.isUncoded ? announced : nil
    try checkSize(total ?? 0)
    try await partial.begin(
      DownloadRecord(head, url: download.request.url, owner: partial.owner, total: total))
    answer = .content(end: total)
    meter?.advance(to: 0, of: total)
  }

  private func beginPart(_ head: WebResponseHead) async throws(SQOAuthError) {
    guard case .part(start, let last, let total)? = ContentRange(head.headers["Content-Range"]),
      let record = partial.record, record.matches(head), total == record.total ?? total
    else { throw misfit() }
    try checkSize(total)
    try await partial.cut(to: start)
    if record.total == nil { try await partial.learn(total: total) }
    self.total = total
    answer = .content(end: last + 1)
    meter?.advance(to: start, of: total)
  }

  private func append(_ data: Data) async throws(SQOAuthError) {
    switch answer {
    case .content(let end):
      let length = partial.length + Int64(data.count)
      try checkSize(length)
      guard length <= end ?? .max else {
        throw SQOAuthError(
          .invalidResponse, "the server sent more bytes of the file than it announced")
      }
      try await partial.append(data)
      receivedBytes += Int64(data.count)
      meter?.advance(to: length, of: total)
    case .refusal(let body):
      guard Int64(body.count + data.count) <= download.request.maximumResponseBytes else {
        throw SQOAuthError(
          .responseTooLarge,
          "the server answered with status \(head?.status ?? 0) and more than the "
            + "\(download.request.maximumResponseBytes) bytes that the request allows for an error",
          status: head?.status)
      }
      answer = .refusal(body + data)
    case .none, .misfit, .complete:
      throw SQOAuthError(.invalidResponse, "the HTTP client delivered content without a head")
    }
  }

  private func checkSize(_ length: Int64) throws(SQOAuthError) {
    guard length > download.maximumBytes ?? .max else { return }
    throw SQOAuthError(
      .responseTooLarge,
      "the file has more than the \(download.maximumBytes ?? .max) bytes that are allowed")
  }

  /// Returns whether a status may mean that the server does not serve a part of the resource.
  ///
  /// This is the meaning of status 416 (RFC 9110, section 15.5.17). Servers without support for
  /// `Range` or `If-Range` also use other statuses.
  private static func refusesPart(_ status: Int) -> Bool {
    [400, 405, 412, 416, 417, 501].contains(status)
  }

  /// Returns whether a response with status 416 means that the partial file has all bytes.
  private func isWhole(_ head: WebResponseHead) -> Bool {
    ContentRange(head.headers["Content-Range"]) == .unsatisfied(total: partial.length)
      && [head.headers["ETag"], head.headers["Last-Modified"]].contains(partial.record?.validator)
  }

  private func misfit() -> SQOAuthError {
    answer = .misfit
    return SQOAuthError(
      .invalidResponse, "the server's answer does not continue the partial file")
  }
}
