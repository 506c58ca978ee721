import SQBasics
package import SequencingOAuth

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// Downloads a resource to a file, and continues where an earlier attempt stopped.
///
/// The bytes go into `NAME.partial` in the folder of the destination, which only the user can read.
/// When all bytes are there and on the disk, that file gets the destination's name. An old file
/// with that name stays until then, so the destination is never an incomplete file. A file named
/// `NAME.partial` that no download has left stays as it is, and the call fails. A later call
/// for the URL, also of another process, continues after the bytes that are there. For this, the
/// server must have sent a strong validator, and must confirm with it that the resource has not
/// changed (RFC 9110, section 13.1.5). In all other cases the download starts from the first byte.
///
/// Within a call, the download continues at once after a lost connection that has brought 64 KiB or
/// more. After one that has brought less, it waits before it tries again, longer each time; after
/// five of them in a row, the call fails. The download is not tried again if nothing was received,
/// if it was cancelled, or if the request's `timeout` is over, which holds for the whole call.
///
/// - SeeAlso: RFC 9110, section 14
package struct ResumableDownload: Sendable {
  /// Sends one request, with a token if it needs one.
  package typealias Send = @Sendable (HTTPRequest) async throws(SQOAuthError) -> HTTPResponse

  /// A GET without `Range`; its `maximumResponseBytes` limits only the content of a refusal.
  ///
  /// Its `progress` gets the progress of each attempt separately.
  package var request: HTTPRequest
  /// The URL of the file to write; its folder must exist.
  package var destination: URL
  /// Whether a file at the destination is replaced; otherwise the call fails if there is one.
  package var replacesFile: Bool
  /// The largest length of the file, in bytes; `nil` for no limit.
  package var maximumBytes: Int64?
  /// Gets the progress over all attempts; the bytes of an earlier call count as done.
  package var progress: (@Sendable (TransferProgress) -> Void)?

  package init(
    _ request: HTTPRequest, to destination: URL, maximumBytes: Int64? = nil,
    replacesFile: Bool = true, progress: (@Sendable (TransferProgress) -> Void)? = nil
  ) {
    self.request = request
    self.destination = destination
    self.replacesFile = replacesFile
    self.maximumBytes = maximumBytes
    self.progress = progress
  }

  /// Runs the download; returns when the file is complete or the server has refused the request.
  ///
  /// - Returns: The last response. If its status is 200 to 299, the file is complete. With any
  ///   other status, the response has its content in its body, and has changed neither the file nor
  ///   the partial file.
  /// - Throws: The errors of `send`; ``SQOAuthError/Code/fileFailed`` with the path, for example if
  ///   the disk is full or a file of the user's own is in the way; ``SQOAuthError/Code/fileInUse`` if another download to the same file is
  ///   under way; ``SQOAuthError/Code/responseTooLarge`` if the file is too long.
  package func run(_ send: Send) async throws(SQOAuthError) -> HTTPResponse {
    try checkRequest()
    let partial = try await PartialFile.locked(self)
    do throws(SQOAuthError) {
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
  ) async throws(SQOAuthError) -> HTTPResponse {
    let meter = progress.map { TransferMeter($0) }
    var patience = DownloadPatience(timeout: request.timeout, length: partial.length)
    var mayRestart = true
    while true {
      let attempt = DownloadAttempt(self, partial, meter, timeout: try patience.timeLeft())
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
          try await patience.wait(after: error, of: attempt, partial)
        }
      }
    }
  }
}
