import CCurl

/// Keeps the counts of a transfer that is watched, until the event loop reports them.
struct ProgressMeter {
  private let report: @Sendable (HTTPProgress) -> Void
  private var current = HTTPProgress()
  private var reported: HTTPProgress?
  private var knowsLength = false

  init(
    _ report: @escaping @Sendable (HTTPProgress) -> Void, _ body: HTTPRequestBody,
    _ upload: UploadQueue?
  ) {
    self.report = report
    switch body {
    case .empty: current.totalToSend = 0
    case .bytes(let data): current.totalToSend = Int64(data.count)
    case .file, .stream: current.totalToSend = upload?.length
    }
  }

  /// A body that is sent again after a lost connection counts from where it was.
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

  /// The whole of a small body went out with the head, without a callback.
  mutating func finish() {
    current.sent = current.totalToSend ?? current.sent
  }

  /// The call that is due, if anything has moved since the last.
  mutating func due() -> (@Sendable () -> Void)? {
    guard current != reported else { return nil }
    reported = current
    return { [report, current] in report(current) }
  }

  /// `Content-Length`, unless it counts compressed bytes.
  private static func announcedLength(_ handle: CurlHandle) -> Int64? {
    var field: UnsafeMutablePointer<curl_header>?
    let coding = curl_easy_header(
      handle.easy, "Content-Encoding", 0, UInt32(CURLH_HEADER), -1, &field)
    guard coding != CURLHE_OK else { return nil }
    let length = sq_get_size(handle.easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
    return length >= 0 ? Int64(length) : nil
  }
}
