import CSQCurl
import SQBasics
import SQFoundation

/// The setting that names a request's proxy, for error messages.
///
/// Messages do not include the proxy's URL, because it may contain a password.
struct ProxySetting {
  /// The name of the setting.
  let name: String
  /// The reason why libcurl cannot use the proxy; `nil` if it can, or if there is no proxy.
  let fault: String?
  /// Whether the connection to the proxy itself uses TLS.
  let isOverTLS: Bool

  /// Finds the setting that applies to a request, even if it names no proxy.
  init(
    _ proxy: HTTPTransportConfiguration.Proxy, isSecure: Bool,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    let text: String?
    switch proxy {
    case .url(let url):
      (name, text) = ("HTTPTransportConfiguration.proxy", url.absoluteString)
    case .none:
      (name, text) = ("HTTPTransportConfiguration.proxy", nil)
    case .environment:
      // libcurl's order. It omits HTTP_PROXY, which in a CGI program is a field of the web request.
      let names =
        (isSecure ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]) + ["all_proxy", "ALL_PROXY"]
      let variable = names.first { environment[$0]?.isEmpty == false }
      name = "the variable \(variable ?? names[0])"
      text = variable.flatMap { environment[$0] }
    }
    fault = text.flatMap(Self.fault)
    isOverTLS = text.flatMap(Self.scheme) == "https"
  }

  /// Returns what is wrong with a proxy's URL; `nil` if libcurl can use it.
  static func fault(of proxy: String) -> String? {
    guard let scheme = scheme(of: proxy) else {
      return "is not the URL of a proxy: it must have the form http://HOST:PORT"
    }
    guard schemes.contains(scheme) else {
      return "has a scheme that no proxy has: use http, https, socks4, socks4a, socks5 or socks5h"
    }
    return nil
  }

  /// Parses a proxy's URL as libcurl does before it connects, and returns its scheme in lower case.
  private static func scheme(of proxy: String) -> String? {
    let url = curl_url()
    defer { curl_url_cleanup(url) }
    let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_GUESS_SCHEME)
    var scheme: UnsafeMutablePointer<CChar>?
    guard curl_url_set(url, CURLUPART_URL, proxy, flags) == CURLUE_OK,
      curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK, let scheme
    else { return nil }
    defer { curl_free(scheme) }
    return String(cString: scheme).asciiLowercased()
  }

  private static let schemes: Set = [
    "http", "https", "socks", "socks4", "socks4a", "socks5", "socks5h",
  ]
}
