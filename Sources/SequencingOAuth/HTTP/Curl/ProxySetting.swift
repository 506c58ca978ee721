import CSQCurl
import SQBasics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The setting that names the proxy of a request, for messages.
///
/// The proxy's URL stays out of messages, since it may hold a password.
struct ProxySetting {
  /// Where the proxy is named.
  let name: String
  /// Why libcurl cannot use the proxy; `nil` if it can, or if there is none.
  let fault: String?

  /// Finds the setting that counts for a request, which need not name a proxy.
  init(
    _ proxy: HTTPClientConfiguration.Proxy, isSecure: Bool,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    switch proxy {
    case .url(let url):
      name = "HTTPClientConfiguration.proxy"
      fault = Self.fault(of: url.absoluteString)
    case .none:
      name = "HTTPClientConfiguration.proxy"
      fault = nil
    case .environment:
      // The order of libcurl. A server's CGI programs get a field of the request as HTTP_PROXY.
      let names =
        (isSecure ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]) + ["all_proxy", "ALL_PROXY"]
      let variable = names.first { environment[$0]?.isEmpty == false }
      name = "the variable \(variable ?? names[0])"
      fault = variable.flatMap { environment[$0] }.flatMap(Self.fault)
    }
  }

  /// Parses a proxy's URL as libcurl does before it connects.
  private static func fault(of proxy: String) -> String? {
    let url = curl_url()
    defer { curl_url_cleanup(url) }
    let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_GUESS_SCHEME)
    var scheme: UnsafeMutablePointer<CChar>?
    guard curl_url_set(url, CURLUPART_URL, proxy, flags) == CURLUE_OK,
      curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK, let scheme
    else { return "is not the URL of a proxy: it must have the form http://HOST:PORT" }
    defer { curl_free(scheme) }
    guard schemes.contains(String(cString: scheme).asciiLowercased()) else {
      return "has a scheme that no proxy has: use http, https, socks4, socks4a, socks5 or socks5h"
    }
    return nil
  }

  private static let schemes: Set = [
    "http", "https", "socks", "socks4", "socks4a", "socks5", "socks5h",
  ]
}
