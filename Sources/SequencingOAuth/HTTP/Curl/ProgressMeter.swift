import CSQCurl

/// A counter of a transfer's bytes, from which the event loop makes the progress reports.
struct ProgressMeter {
  private let report: @Sendable (HTTPProgress) -> Void
  private var current = HTTPProgress()
  private var reported: HTTPProgress?
  private var knowsLength = false

  init(
    _ report: @escaping @Sendable (HTTPProgress) -> Void, _ body: WebRequestBody,
    _ upload: UploadQueue?
  ) {
    self.report = report
    switch body {
    case .empty: current.totalToSend = 0
    case .bytes(let data): current.totalToSend = Int64(data.count)
    case .file, .stream: current.totalToSend = upload?.length
    }
  }

  /// Updates the number of sent bytes, which does not go back if the body is sent again.
  mutating func sent(_ count: Int64) {
    current.sent = max(current.sent, count)
  }

  mutating func received(_ count: Int64, of handle: CurlHandle) {
    current.received = count
    if !knowsLength {
      knowsLength = true
      current.totalToReceive = Self.announcedLength(handle)
    }
  }

  /// Counts the whole body as sent, because a small body is sent with the head, without a callback.
  mutating func finish() {
    current.sent = current.totalToSend ?? current.sent
  }

  /// Returns the report to call outside the lock, or `nil` if nothing changed since the last
  /// report.
  mutating func due() -> (@Sendable () -> Void)? {
    guard current != reported else { return nil }
    reported = current
    return { [report, current] in report(current) }
  }

  /// Returns the value of `Content-Length`, or `nil` if it is missing or counts compressed bytes.
  static func announcedLength(_ handle: CurlHandle) -> Int64? {
    var field: UnsafeMutablePointer<curl_header>?
    let coding = curl_easy_header(
      handle.easy, "Content-Encoding", 0, sq_final_header, -1, &field)
    guard coding != CURLHE_OK else { return nil }
    let length = sq_get_size(handle.easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
    return length >= 0 ? Int64(length) : nil
  }
}
