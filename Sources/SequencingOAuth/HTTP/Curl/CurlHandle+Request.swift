import CSQCurl
import SQBasics
import SQFoundation

/// The options that differ from one request to the next.
///
/// The handle still has the options of its last request. So each request sets all of these options,
/// except the URL and its proxy if the URL is unchanged.
extension CurlHandle {
  /// The largest body that is copied and sent together with the head, in bytes.
  private static let copiedBodyLimit = 64 * 1024

  func prepare(
    _ transfer: CurlTransfer, _ configuration: HTTPTransportConfiguration
  ) throws(SQOAuthError) {
    let target = transfer.target
    try checkAuthorities(for: target)
    ignoreErrors()
    let isSet =
      setURL(target, configuration) && setMethod(transfer)
      // Waits for a connection that is being opened, because it may carry several requests.
      && set(CURLOPT_PIPEWAIT, target.isSecure ? 1 : 0)
      && set(CURLOPT_FRESH_CONNECT, transfer.request.needsNewConnection ? 1 : 0)
      // An abandoned request on this handle may have set this option.
      && set(CURLOPT_FORBID_REUSE, 0)
      && setFields(transfer.request)
    guard isSet else {
      throw SQOAuthError(
        .malformedRequest,
        "libcurl cannot send a request with these fields or this URL to \(target.authority)")
    }
  }

  private func setMethod(_ transfer: CurlTransfer) -> Bool {
    let request = transfer.request
    // This undoes what the last request's upload, POST or HEAD has set.
    guard set(CURLOPT_HTTPGET, 1) else { return false }
    var method: String? = request.method
    switch request.body {
    case .empty where request.method == "HEAD":
      guard set(CURLOPT_NOBODY, 1) else { return false }
      method = nil
    case .empty where ["POST", "PUT", "PATCH"].contains(request.method):
      // RFC 9110, section 8.6: with a method that expects content, the client sends length 0.
      guard setCopied(Data()) else { return false }
    case .empty:
      if request.method == "GET" { method = nil }
    case .bytes(let data) where data.count <= Self.copiedBodyLimit:
      guard setCopied(data) else { return false }
    case .bytes(let data):
      guard setUpload(length: Int64(data.count)) else { return false }
    case .file, .stream:
      guard setUpload(length: transfer.upload?.length) else { return false }
    }
    return set(CURLOPT_CUSTOMREQUEST, text: method)
  }

  private func setCopied(_ data: Data) -> Bool {
    guard set(CURLOPT_POST, 1), set(CURLOPT_POSTFIELDSIZE_LARGE, size: Int64(data.count)) else {
      return false
    }
    return data.withUnsafeBytes { bytes in
      // With size 0, libcurl reads no byte. But it treats a null pointer as "call the read
      // function".
      withUnsafeBytes(of: 0) { none in
        let start = UnsafeMutableRawPointer(mutating: bytes.baseAddress ?? none.baseAddress)
        return set(CURLOPT_COPYPOSTFIELDS, start)
      }
    }
  }

  private func setUpload(length: Int64?) -> Bool {
    set(CURLOPT_COPYPOSTFIELDS, nil) && set(CURLOPT_UPLOAD, 1)
      && set(CURLOPT_INFILESIZE_LARGE, size: length ?? -1)
  }

  /// Sets the URL and its proxy, unless the last request had the same URL.
  private func setURL(
    _ target: RequestTarget, _ configuration: HTTPTransportConfiguration
  ) -> Bool {
    if url == target.url { return true }
    guard set(CURLOPT_URL, text: target.url), setProxy(target, configuration.proxy) else {
      url = nil
      return false
    }
    url = target.url
    return true
  }

  private func setProxy(
    _ target: RequestTarget, _ proxy: HTTPTransportConfiguration.Proxy
  ) -> Bool {
    if target.mayBeLoopback { return set(CURLOPT_PROXY, text: "") }
    let option = ProxySetting.option(proxy, isSecure: target.isSecure)
    // The variable `no_proxy` is only about the proxies of the environment.
    let exceptions: String? = proxy == .environment ? nil : ""
    return set(CURLOPT_PROXY, text: option) && set(CURLOPT_NOPROXY, text: exceptions)
  }

  /// Sets the header lines, and removes the lines that libcurl would add by itself.
  private func setFields(_ request: WebRequest) -> Bool {
    var list: UnsafeMutablePointer<curl_slist>?
    /// Appends a line; if the memory runs out, frees the list and returns `false`.
    func append(_ line: String) -> Bool {
      guard let longer = curl_slist_append(list, line) else {
        curl_slist_free_all(list)
        return false
      }
      list = longer
      return true
    }
    var hasContentType = false
    var hasExpect = false
    for field in request.headers {
      let value = field.value.trimmed
      // "Name;" is libcurl's notation for a field with an empty value.
      guard append(value.isEmpty ? "\(field.name);" : "\(field.name): \(value)") else {
        return false
      }
      hasContentType =
        hasContentType
        || field.name.utf8.count == 12 && field.name.asciiLowercased() == "content-type"
      hasExpect =
        hasExpect || field.name.utf8.count == 6 && field.name.asciiLowercased() == "expect"
    }
    if !request.body.isEmpty || request.method != "GET" {
      if !hasContentType, !append("Content-Type:") { return false }
      if !hasExpect, !append("Expect:") { return false }
    }
    setFields(list)
    return true
  }
}
