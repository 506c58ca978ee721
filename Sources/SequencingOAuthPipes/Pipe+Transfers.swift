import SQBasics
public import SQFoundation
public import SequencingOAuth

/// Uploads and downloads of any size, without loading a whole file into memory.
///
/// ``PipeConfiguration/timeout`` limits how long a transfer may go without any data; there is no
/// limit on its total time.
///
/// A `progress` closure that is isolated to an actor, such as one in a `@MainActor` view, runs on
/// that actor; any other closure runs on ``Pipeline/callbackQueue``. Calls do not overlap, and no
/// call follows the end of the operation. The transfer does not wait for the closure: while the
/// closure is busy, a newer value replaces an older one. If the operation succeeds, the closure
/// always gets the last value before the operation returns.
extension Pipeline.Pipe {
  /// Sends a form with files: `POST` to the pipe's URL, or `PUT` to the URL of a record.
  ///
  /// The pipe gets a valid token before it sends the first byte. If the API still refuses the
  /// token, the pipe sends the form again with the next token. If a part of the form can be read
  /// only once, the operation fails with `SQOAuthError.Code.bodyNotReplayable` instead.
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

  /// Sends a file, bytes or a stream without a form around it.
  ///
  /// It sends a `POST` to the pipe's URL or, with an id, a `PUT` to the URL of the record.
  @discardableResult
  public nonisolated(nonsending) func upload<Value: Decodable & Sendable>(
    _ content: WebRequestBody, contentType: String = MultipartForm.Part.defaultContentType,
    id: (some LosslessStringConvertible)? = String?.none, parameters: [String: String] = [:],
    returning type: Value.Type = JSONValue.self,
    progress: (@isolated(any) (TransferProgress) -> Void)? = nil
  ) async throws(PipeError) -> Value {
    try await upload(content, contentType, id?.description, parameters, type, relay(progress))
  }

  func upload<Value: Decodable & Sendable>(
    _ content: WebRequestBody, _ contentType: String, _ id: String?,
    _ parameters: [String: String], _ type: Value.Type, _ relay: ProgressRelay<TransferProgress>?
  ) async throws(PipeError) -> Value {
    var request = try uploadRequest(id, parameters)
    request.body = content
    request.headers["Content-Type"] = contentType
    return try await upload(request, type, relay)
  }

  /// Downloads the content of a record, or of the pipe's URL if there is no id, to a file.
  ///
  /// The bytes go into `NAME.partial` in the destination's folder. When the download is complete,
  /// that file is moved to the destination, so the destination is never an incomplete file. The
  /// download continues after a lost connection, and a later call for the same user, or the same
  /// sign-in if no ID token names the user, continues where an earlier call stopped. This requires
  /// that the API supports ranges and confirms that the content has not changed (RFC 9110, section
  /// 14).
  ///
  /// By default, a file at the destination is replaced. If a server has chosen the file's name, set
  /// `replacing` to `false`: the download then fails if a file with that name exists, even if it
  /// appears during the download. A file named `NAME.partial` or `NAME.partial.info` that was not
  /// written by a download is never changed, unless it is an empty `NAME.partial`.
  ///
  /// - Throws: ``PipeError``. It is ``PipeError/failed(_:)`` with `SQOAuthError.Code.fileFailed` if
  ///   the file cannot be written or a file of the user is in the way, and with
  ///   `SQOAuthError.Code.fileInUse` if another download to the same file is running. It is
  ///   ``PipeError/noAccess(_:)`` with `SQOAuthError.Code.sessionReplaced` if another user signs in
  ///   during the download.
  public nonisolated(nonsending) func download(
    id: (some LosslessStringConvertible)? = String?.none, parameters: [String: String] = [:],
    to destination: URL, replacing: Bool = true,
    progress: (@isolated(any) (TransferProgress) -> Void)? = nil
  ) async throws(PipeError) {
    try await download(id?.description, parameters, destination, replacing, relay(progress))
  }

  func download(
    _ id: String?, _ parameters: [String: String], _ destination: URL, _ replacing: Bool,
    _ relay: ProgressRelay<TransferProgress>?
  ) async throws(PipeError) {
    var request = try request("GET", id: id, parameters: parameters)
    request.headers["Accept"] = nil
    request.timeout = nil
    let download = ResumableDownload(
      request, to: destination, replacesFile: replacing, progress: relay?.report)
    try await relay.run { () async throws(PipeError) in
      try await self.run { () async throws(PipeError) in try await self.fetch(download) }
    }
  }

  private func uploadRequest(
    _ id: String?, _ parameters: [String: String]
  ) throws(PipeError) -> WebRequest {
    var request = try request(id == nil ? "POST" : "PUT", id: id, parameters: parameters)
    request.timeout = nil
    return request
  }

  private func upload<Value: Decodable & Sendable>(
    _ request: WebRequest, _ type: Value.Type,
    _ relay: ProgressRelay<TransferProgress>?
  ) async throws(PipeError) -> Value {
    var request = request
    let meter = relay.map { TransferMeter($0.report) }
    meter?.followUpload(of: &request)
    return try await relay.run { [request] () async throws(PipeError) in
      let value = try await self.read(request).value(type)
      meter?.finish()
      return value
    }
  }

  private func fetch(_ download: ResumableDownload) async throws(PipeError) {
    // The API's refusal; the response of `download` has its other parts.
    let refusal = Locked<PipeError.Refusal?>(nil)
    let attempts = RequestSeries()
    var download = download
    download.owner = { () throws(SQOAuthError) in
      do throws(PipeError) {
        return try await self.owner(of: attempts)
      } catch {
        throw SQOAuthError(.cancelled, "", cause: error)
      }
    }
    let response: WebResponse
    do throws(SQOAuthError) {
      response = try await download.run { request throws(SQOAuthError) in
        do throws(PipeError) {
          // `cancel()` ends the whole download and its request, so this interruption is never
          // raised.
          return try await self.answer(
            to: request, from: self.address.origin, in: attempts, Interruption())
        } catch {
          if case .refused(let answer) = error {
            refusal.withLock { $0 = answer }
            return WebResponse(status: answer.status, headers: answer.head.headers)
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
      let (challenge, error) = refusal.withLock { ($0?.challenge, $0?.oauthError) }
      throw .refused(PipeError.Refusal(response, challenge: challenge, oauthError: error))
    }
  }

  /// Gets a token for a download's requests, and returns a text that names its user.
  ///
  /// If the user and the sign-in are unknown, no later download can have the same owner.
  private func owner(of attempts: RequestSeries) async throws(PipeError) -> String {
    let interruption = Interruption()
    do throws(ResourceFailure) {
      let use = try await access(to: address.origin, of: module.session.owner, interruption)
      attempts.owner = use.owner
      return use.owner?.partyOrSignIn ?? UUID().uuidString
    } catch {
      throw Self.error(error, interruption)
    }
  }

  /// Returns the error if the download may continue after it; `nil` if the error ends the download.
  private static func lostConnection(_ error: PipeError) -> SQOAuthError? {
    switch error {
    case .timedOut(let cause), .failed(let cause): cause
    case .noAccess, .refused, .unreadable, .cancelled: nil
    }
  }
}
