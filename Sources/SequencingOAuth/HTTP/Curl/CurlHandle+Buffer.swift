import CSQCurl

/// The size of libcurl's buffer for a response.
///
/// Over HTTP/2, the buffers of libcurl 7.88 must never get full. Bytes that one request reads from
/// a connection may belong to another request, and go into the other request's buffer. If that
/// buffer is full, the HTTP/2 layer stops within a frame and continues only when more bytes arrive.
/// After the last frame, no more arrive: libcurl misses the end of the response, and the request
/// waits until its time limit.
///
/// So over HTTP/2, a request whose response goes to memory has a buffer for the whole response. A
/// request whose response is streamed has a connection of its own (see ``CurlMulti``), and a buffer
/// for a head and one read. The unused part of a buffer is never touched, so it takes no memory.
extension CurlHandle {
  /// The number of bytes that libcurl reads from an HTTP/2 connection at once.
  private static let oneRead = 32 * 1024
  /// The number of bytes that libcurl reads at once from a possibly large HTTP/1.1 response.
  private static let manyReads = 256 * 1024
  /// The largest head that libcurl accepts over HTTP/2, in bytes.
  private static let largestHead = 128 * 1024
  /// libcurl's default buffer size, in bytes.
  static let ownChoice = 16 * 1024
  /// The largest buffer that libcurl creates, in bytes.
  private static let largest = 10 * 1024 * 1024

  /// Sets the buffer's size for the next response.
  ///
  /// Returns `false` if libcurl has kept a buffer that is too small, which may happen after a
  /// request on a shared connection.
  func setBuffer(for request: WebRequest, to target: RequestTarget) -> Bool {
    let size = Self.bufferSize(request, maySpeakHTTP2(to: target))
    if size == bufferSize { return true }
    guard set(CURLOPT_BUFFERSIZE, size) else { return size <= bufferSize }
    bufferSize = size
    return true
  }

  private static func bufferSize(_ request: WebRequest, _ maySpeakHTTP2: Bool) -> Int {
    guard case .memory = request.destination else {
      return maySpeakHTTP2 ? oneRead + largestHead : manyReads
    }
    guard maySpeakHTTP2 else { return ownChoice }
    let response = Int(min(max(request.maximumResponseBytes, 0), Int64(largest)))
    return min(oneRead + largestHead + response, largest)
  }
}
