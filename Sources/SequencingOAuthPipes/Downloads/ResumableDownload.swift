import SQBasics
package import SQFoundation
package import SequencingOAuth

/// A download of a resource to a file that continues where an earlier attempt stopped.
///
/// The bytes go into the file `NAME.partial` in the destination's folder. Only the user can read
/// this file, if its file system has modes. When the download is complete and on the disk, the file
/// is moved to the destination. An old file at the destination stays until then, so the destination
/// is never an incomplete file. If a file named `NAME.partial` has bytes that no download wrote, it
/// is not changed, and the call fails.
///
/// A later call for the URL and the user, even in another process, continues after the existing
/// bytes. This requires that the server sent a strong validator and confirms with it that the
/// resource has not changed (RFC 9110, section 13.1.5). In all other cases the download starts at
/// the first byte.
///
/// If a connection is lost after 64 KiB or more, the download continues immediately. If a
/// connection is lost after fewer bytes, the download waits before it tries again, longer after
/// each failure. After five such failures in a row, the call fails. After a lost connection, it
/// also fails if no byte was received or if the server sent no strong validator. It fails if the
/// download was cancelled or if the request's `timeout` has passed. The `timeout` applies to the
/// whole call.
///
/// - SeeAlso: RFC 9110, section 14
package struct ResumableDownload: Sendable {
  /// A closure that sends one request, with a token if the request needs one.
  package typealias Send = @Sendable (WebRequest) async throws(SQOAuthError) -> WebResponse

  /// A GET request without `Range`.
  ///
  /// Its `maximumResponseBytes` limits only an error response. Its `progress` closure receives the
  /// progress of each attempt separately.
  package var request: WebRequest
  /// The URL of the file to write; its folder must exist.
  package var destination: URL
  /// Whether to replace a file at the destination; if `false`, the call fails if a file is there.
  package var replacesFile: Bool
  /// The maximum length of the file, in bytes; `nil` for no limit.
  package var maximumBytes: Int64?
  /// A closure that names the user whose content this is; `nil` if it is the same for all users.
  ///
  /// It is called once, before the first request. Only the bytes that an earlier call for the same
  /// user has left are used. If it throws, they stay.
  package var owner: @Sendable () async throws(SQOAuthError) -> String? = {
    () throws(SQOAuthError) in nil
  }
  /// A closure that receives the progress over all attempts, including bytes from an earlier call.
  package var progress: (@Sendable (TransferProgress) -> Void)?

  package init(
    _ request: WebRequest, to destination: URL, maximumBytes: Int64? = nil,
    replacesFile: Bool = true, progress: (@Sendable (TransferProgress) -> Void)? = nil
  ) {
    self.request = request
    self.destination = destination
    self.replacesFile = replacesFile
    self.maximumBytes = maximumBytes
    self.progress = progress
  }

  /// Runs the download, and returns when the file is complete or the server has refused the
  /// request.
  ///
  /// - Returns: The last response. If its status is from 200 to 299, the file is complete. With any
  ///   other status, the response has its content in its body, and the file has not changed.
  /// - Throws: The errors of `send` and `owner`; `SQOAuthError.Code.fileFailed` with the path, for
  ///   example if the disk is full or a file of the user is in the way;
  ///   `SQOAuthError.Code.fileInUse` if another download to the same file is running;
  ///   `SQOAuthError.Code.responseTooLarge` if the file is too long.
  package func run(_ send: Send) async throws(SQOAuthError) -> WebResponse {
    try checkRequest()
    let partial = try await PartialFile.locked(self)
    do throws(SQOAuthError) {
      try await partial.keepBytes(of: try await owner())
      let response = try await fetch(into: partial, send)
      await partial.leave()
      return response
    } catch {
      await partial.leave()
      throw error
    }
  }

  private func checkRequest() throws(SQOAuthError) {
    let fields = request.headers
    guard request.method == "GET", request.body.isEmpty, fields["Range"] == nil,
      fields["If-Range"] == nil
    else {
      throw SQOAuthError(
        .malformedRequest,
        "a download must be a GET without content and without Range and If-Range, which the SDK "
          + "adds itself; nothing was sent")
    }
  }

  private func fetch(
    into partial: PartialFile, _ send: Send
  ) async throws(SQOAuthError) -> WebResponse {
    let meter = progress.map { TransferMeter($0) }
    var retries = DownloadRetries(timeout: request.timeout, length: partial.length)
    var mayRestart = true
    while true {
      let attempt = DownloadAttempt(self, partial, meter, timeout: try retries.timeLeft())
      do throws(SQOAuthError) {
        let response = try await attempt.run(send)
        guard attempt.isComplete else { return response }
        try await partial.finish()
        meter?.finish(partial.length)
        return response
      } catch {
        if attempt.isMisfit, mayRestart {
          mayRestart = false
          try await partial.begin(nil)
        } else {
          try await retries.wait(after: error, of: attempt, partial)
        }
      }
    }
  }
}
