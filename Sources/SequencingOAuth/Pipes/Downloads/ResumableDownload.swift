#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// Brings a resource into a file, and goes on where an earlier attempt stopped.
///
/// The bytes are gathered in `NAME.partial` beside the destination, which only the user can read.
/// When all are there and on the disk, that file gets the destination's name: what was there before
/// stays until then, and half a file never stands there. A later call for the same URL, also of
/// another process, goes on behind the bytes that are there, provided that the server gave a strong
/// validator and says by it that the resource is still the same (RFC 9110, section 13.1.5). In any
/// other case it starts from the first byte.
///
/// Within a call, a connection that is lost is resumed at once as long as it brought 64 KiB or more.
/// Those that bring less are followed by a growing wait, and the fifth of them in a row ends the
/// call. A download that nothing was received of, that was cancelled, or whose request's `timeout`
/// is over, is not tried again: the timeout holds for the whole call.
///
/// - SeeAlso: RFC 9110, section 14
package struct ResumableDownload: Sendable {
  /// Sends one request, with a token where one is needed.
  package typealias Send = @Sendable (HTTPRequest) async throws(SQOAuthError) -> HTTPResponse

  /// A GET without `Range`, whose `maximumResponseBytes` bounds the content of a refusal only.
  ///
  /// Its own `progress` is told of each attempt by itself.
  package var request: HTTPRequest
  /// The file; its folder must be there.
  package var destination: URL
  /// The longest file that is accepted.
  package var maximumBytes: Int64?
  /// Told how far it is; what an earlier call has brought counts as done.
  package var progress: (@Sendable (TransferProgress) -> Void)?

  package init(
    _ request: HTTPRequest, to destination: URL, maximumBytes: Int64? = nil,
    progress: (@Sendable (TransferProgress) -> Void)? = nil
  ) {
    self.request = request
    self.destination = destination
    self.maximumBytes = maximumBytes
    self.progress = progress
  }

  /// Returns when the file is in its place or the server has refused it.
  ///
  /// - Returns: The last response. The file is there exactly if its status is 200 to 299; any other
  ///   has its content in the body, and has changed neither the file nor the bytes gathered so far.
  /// - Throws: What `send` throws; ``SQOAuthError/Code/fileFailed`` with the path, such as where the
  ///   disk is full; ``SQOAuthError/Code/fileInUse`` where another download to the same file is
  ///   under way; ``SQOAuthError/Code/responseTooLarge``.
  package func run(_ send: Send) async throws(SQOAuthError) -> HTTPResponse {
    try checkRequest()
    let partial = try await PartialFile.locked(destination, of: request.url)
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
        "a download is a GET without content, and asks for ranges by itself; nothing was sent")
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
