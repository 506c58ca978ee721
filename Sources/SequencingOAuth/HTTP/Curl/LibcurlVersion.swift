import CCurl

/// What the libcurl that is loaded can be trusted with.
package enum LibcurlVersion {
  /// Whether it is one of those whose HTTP/2 was written anew: 8.14 (Debian 13) or later.
  ///
  /// Where the server resets a stream behind its answer, as it does when it has not read the whole
  /// request, 7.88 drops what it has read and not yet passed on: messages, or all of the answer.
  /// And it greets the server again on a kept connection without TLS, which breaks it.
  package static let hasNewHTTP2 = {
    guard let info = curl_version_info(CURLVERSION_FIRST) else { return false }
    return info.pointee.version_num >= 0x08_0E_00
  }()
}
