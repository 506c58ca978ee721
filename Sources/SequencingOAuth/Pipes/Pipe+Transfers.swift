import Basics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Uploads and downloads, of any size: what is sent or received is never whole in memory.
///
/// ``PipeConfiguration/timeout`` is how long they may stand still; in all they may take any time.
///
/// A `progress` closure is called on its actor if it belongs to one, as a closure of a `@MainActor`
/// screen does, and otherwise on ``Pipeline/callbackQueue``. The calls come one after the other, and
/// none comes after the operation has ended. The transfer does not wait for the closure: while that is
/// busy, a newer statement replaces an older one. The last statement of an operation that succeeds is
/// always delivered, before the operation returns.
extension Pipeline.Pipe {
  /// Sends a form with files: `POST` on the pipe's URL, or `PUT` on that of a record.
  ///
  /// The token is made sure of before the first byte is sent. Where the API refuses it all the same,
  /// the form is sent again with the next one; a part that can be read once only makes that
  /// ``SQOAuthError/Code/bodyNotReplayable``.
  @discardableResult
  public nonisolated(nonsending) func upload<Value: Decodable & Sendable>(
    _ form: MultipartForm, id: (some LosslessStringConvertible)? = String?.none,
    parameters: [String: String] = [:], returning type: Value.Type = JSONValue.self,
    progress: (@isolated(any) (TransferProgress) -> Void)? = nil
  ) async throws(PipeError) -> Value {
    try await upload(form, id?.description, parameters, type, relay(progress))
  }

  func upload<Value: Decodable & Sendable>(
    _ form: MultipartForm, _ id: String?, _ parameters: [String: String], _ type: Value.Type,
    _ relay: ProgressRelay<TransferProgress>?
  ) async throws(PipeError) -> Value {
    var request = try uploadRequest(id, parameters)
    do throws(SQOAuthError) {
      try request.setForm(form)
    } catch {
      throw .failed(error)
    }
    return try await upload(request, type, relay)
  }

  /// Sends a file, bytes or a stream as they are: `POST` on the pipe's URL, or `PUT` on that of a
  /// record.
  @discardableResult
  public nonisolated(nonsending) func upload<Value: Decodable & Sendable>(
    _ content: HTTPRequestBody, contentType: String = MultipartForm.Part.defaultContentType,
    id: (some LosslessStringConvertible)? = String?.none, parameters: [String: String] = [:],
    returning type: Value.Type = JSONValue.self,
    progress: (@isolated(any) (TransferProgress) -> Void)? = nil
  ) async throws(PipeError) -> Value {
    try await upload(content, contentType, id?.description, parameters, type, relay(progress))
  }

  func upload<Value: Decodable & Sendable>(
    _ content: HTTPRequestBody, _ contentType: String, _ id: String?,
    _ parameters: [String: String], _ type: Value.Type, _ relay: ProgressRelay<TransferProgress>?
  ) async throws(PipeError) -> Value {
    var request = try uploadRequest(id, parameters)
    request.body = content
    request.headers["Content-Type"] = contentType
    return try await upload(request, type, relay)
  }

  /// Brings the content of a record, or of the pipe's URL, into a file.
  ///
  /// The bytes are gathered in `NAME.partial` beside the destination and get its name when all are
  /// there, so half a file never stands in its place. A connection that is lost is resumed, and a
  /// later call goes on where an earlier one stopped, where the API offers ranges and says that the
  /// content is still the same (RFC 9110, section 14).
  ///
  /// - Throws: ``PipeError``, with ``SQOAuthError/Code/fileFailed`` and
  ///   ``SQOAuthError/Code/fileInUse`` in ``PipeError/failed(_:)``.
  public nonisolated(nonsending) func download(
    id: (some LosslessStringConvertible)? = String?.none, parameters: [String: String] = [:],
    to destination: URL, progress: (@isolated(any) (TransferProgress) -> Void)? = nil
  ) async throws(PipeError) {
    try await download(id?.description, parameters, destination, relay(progress))
  }

  func download(
    _ id: String?, _ parameters: [String: String], _ destination: URL,
    _ relay: ProgressRelay<TransferProgress>?
  ) async throws(PipeError) {
    var request = try request("GET", id: id, parameters: parameters)
    request.headers["Accept"] = nil
    request.timeout = nil
    let download = ResumableDownload(request, to: destination, progress: relay?.report)
    try await relay.run { () async throws(PipeError) in
      try await self.run { () async throws(PipeError) in try await self.fetch(download) }
    }
  }

  private func uploadRequest(
    _ id: String?, _ parameters: [String: String]
  ) throws(PipeError) -> HTTPRequest {
    var request = try request(id == nil ? "POST" : "PUT", id: id, parameters: parameters)
    request.timeout = nil
    return request
  }

  private func upload<Value: Decodable & Sendable>(
    _ request: HTTPRequest, _ type: Value.Type,
    _ relay: ProgressRelay<TransferProgress>?
  ) async throws(PipeError) -> Value {
    var request = request
    let meter = relay.map { TransferMeter($0.report) }
    meter?.followUpload(of: &request)
    return try await relay.run { [request] () async throws(PipeError) in
      let value = try self.decode(type, try await self.perform(request))
      meter?.finish()
      return value
    }
  }

  private func fetch(_ download: ResumableDownload) async throws(PipeError) {
    // Why the token does not do; what the API says besides comes by way of the download.
    let challenge = Locked<BearerChallenge?>(nil)
    let response: HTTPResponse
    do throws(SQOAuthError) {
      response = try await download.run { request throws(SQOAuthError) in
        do throws(PipeError) {
          // `cancel()` ends the whole download, and the request with it.
          return try await self.answer(to: request, from: self.address.origin, Interruption())
        } catch {
          if case .refused(let refusal) = error {
            challenge.withLock { $0 = refusal.challenge }
            return HTTPResponse(status: refusal.status, headers: refusal.head.headers)
          }
          throw Self.lostConnection(error) ?? SQOAuthError(.cancelled, "", cause: error)
        }
      }
    } catch {
      if Task.isCancelled { throw .cancelled }
      if let reason = error.cause as? PipeError { throw reason }
      throw Self.noAnswer(error)
    }
    guard (200...299).contains(response.status) else {
      throw .refused(
        PipeError.Refusal(
          response, challenge: challenge.withLock(\.self) ?? response.bearerChallenge))
    }
  }

  /// What a download may go on after; all else ends it.
  private static func lostConnection(_ error: PipeError) -> SQOAuthError? {
    switch error {
    case .timedOut(let cause), .failed(let cause): cause
    case .noAccess, .refused, .unreadable, .cancelled: nil
    }
  }
}
