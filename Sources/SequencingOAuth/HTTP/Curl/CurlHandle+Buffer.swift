import CCurl

/// How much of a response libcurl holds.
///
/// Over HTTP/2 libcurl 7.88 must never run out of buffer. What one request reads from a connection
/// may be for another, and goes into that one's buffer. Where there is no room, the HTTP/2 layer
/// is stopped within a frame, and goes on only when further bytes come. After the last frame none
/// do: the end of the response goes unnoticed, and the request waits until its time is up.
///
/// So a request that shares its connection has room for all of its response, and one that has it
/// for itself (see ``CurlMulti``) has room for a head and what is read at a time. Room that is not
/// used is never touched, so it takes no memory.
extension CurlHandle {
  /// What libcurl reads from a connection at a time, over HTTP/2.
  private static let oneRead = 32 * 1024
  /// What it reads at a time of a response that may be large, over HTTP/1.1.
  private static let manyReads = 256 * 1024
  /// The largest head that libcurl lets through, over HTTP/2.
  private static let largestHead = 128 * 1024
  /// What libcurl takes where nothing is set.
  static let ownChoice = 16 * 1024
  /// The largest buffer that libcurl makes.
  private static let largest = 10 * 1024 * 1024

  /// Makes room for the next response; `false` if libcurl has kept a buffer that is too small, as
  /// it may where the connection was shared.
  func setBuffer(for request: HTTPRequest, to target: RequestTarget) -> Bool {
    let size = Self.bufferSize(request, maySpeakHTTP2(to: target))
    if size == bufferSize { return true }
    guard set(CURLOPT_BUFFERSIZE, size) else { return size <= bufferSize }
    bufferSize = size
    return true
  }

  private static func bufferSize(_ request: HTTPRequest, _ maySpeakHTTP2: Bool) -> Int {
    guard case .memory = request.destination else {
      return maySpeakHTTP2 ? oneRead + largestHead : manyReads
    }
    guard maySpeakHTTP2 else { return ownChoice }
    let response = Int(min(max(request.maximumResponseBytes, 0), Int64(largest)))
    return min(oneRead + largestHead + response, largest)
  }
}
