import CCurl

/// Which mistakes the loaded libcurl may have, by its version.
package enum LibcurlVersion {
  /// Whether libcurl has the rewritten HTTP/2 of version 8.14 (Debian 13) or later.
  ///
  /// The older one, for example of 7.88, has two mistakes. If the server resets a stream after its
  /// answer, because it has not read the whole request, libcurl drops what it has read and not yet
  /// delivered: messages, or the whole answer. And on a kept connection without TLS it sends the
  /// HTTP/2 preface again, which breaks the connection.
  package static let hasNewHTTP2 = {
    guard let info = curl_version_info(CURLVERSION_FIRST) else { return false }
    return info.pointee.version_num >= 0x08_0E_00
  }()
}
