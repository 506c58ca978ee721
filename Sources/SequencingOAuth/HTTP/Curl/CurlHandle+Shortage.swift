import CSQCurl
import SQBasics
import SQLibC

/// What libcurl needs of the system to look up a name and to connect: a thread, and a few
/// descriptors.
extension CurlHandle {
  /// The number of descriptors that libcurl and the C library need to look up a name.
  private static let descriptors = 3

  /// libcurl's codes if the resolver cannot start, without an `errno`.
  private static let resolverCodes: [CURLcode] = [
    CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT,
  ]

  /// Returns the system's error that made a transfer fail with a code, or 0.
  ///
  /// libcurl reports an unknown name and a resolver that cannot start with the same code.
  /// So the method tries whether the system still gives what a resolver needs.
  func systemError(after code: CURLcode, wasSent: Bool) -> Int32 {
    let reported = Int32(truncatingIfNeeded: sq_get_long(easy, CURLINFO_OS_ERRNO))
    // Without a descriptor for the socket, libcurl could not connect, and reports no error.
    let isUnexplained = code == CURLE_COULDNT_CONNECT && reported == 0
    guard isUnexplained || Self.resolverCodes.contains(code) else { return reported }
    return wasSent ? 0 : SystemRoom.shortage(files: Self.descriptors)
  }
}
