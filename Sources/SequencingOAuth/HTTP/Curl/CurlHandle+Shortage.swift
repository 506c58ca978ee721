import CSQCurl
import SQBasics
import SQLibC

/// What libcurl's resolver needs of the system: a thread, and a few descriptors.
extension CurlHandle {
  /// The number of descriptors that libcurl and the C library need to look up a name.
  private static let descriptors = 3

  /// libcurl's codes if the resolver cannot start, without an `errno`.
  private static let resolverCodes: [CURLcode] = [
    CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT,
  ]

  /// Returns the system's error that made a transfer fail with a code, or 0.
  ///
  /// libcurl reports a name that nobody knows and a resolver that cannot start with the same code.
  /// So the method tries whether the system still gives what a resolver needs.
  func systemError(after code: CURLcode, wasSent: Bool) -> Int32 {
    guard Self.resolverCodes.contains(code) else {
      return Int32(truncatingIfNeeded: sq_get_long(easy, CURLINFO_OS_ERRNO))
    }
    return wasSent ? 0 : Self.lackOfResolver()
  }

  private static func lackOfResolver() -> Int32 {
    var opened: [Int32] = []
    defer { opened.forEach { close($0) } }
    while opened.count < descriptors {
      let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return errno }
      opened.append(file)
    }
    return Threads.start {} ? 0 : EAGAIN
  }
}
