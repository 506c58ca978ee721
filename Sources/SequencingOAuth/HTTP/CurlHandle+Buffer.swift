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
  /// The largest head that libcurl lets through, over HTTP/2.
  private static let largestHead = 128 * 1024
  /// The largest buffer that libcurl makes.
  private static let largest = 10 * 1024 * 1024

  /// Sets the size for the next request; `false` if there still is a buffer of another size.
  func setBuffer(for request: HTTPRequest, to target: RequestTarget) -> Bool {
    // 0 stands for libcurl's own choice.
    guard maySpeakHTTP2(to: target) else { return set(CURLOPT_BUFFERSIZE, 0) }
    var size = Self.oneRead + Self.largestHead
    if case .memory = request.destination {
      size += Int(min(max(request.maximumResponseBytes, 0), Int64(Self.largest)))
    }
    return set(CURLOPT_BUFFERSIZE, min(size, Self.largest))
  }
}
