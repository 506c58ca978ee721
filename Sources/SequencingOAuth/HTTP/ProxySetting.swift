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
  /// The port of the proxy; `nil` if the setting names no usable proxy.
  let port: Int?
  /// The host and the port of the proxy; `nil` if the setting names no usable proxy.
  let address: String?
  /// Whether the setting contains a user name for the proxy.
  let namesUser: Bool

  /// Returns the names of the variables that may contain a request's proxy, in libcurl's order.
  ///
  /// libcurl does not read `HTTP_PROXY`. In a CGI program, that variable contains the `Proxy` field
  /// of the incoming request.
  private static func variables(isSecure: Bool) -> [String] {
    (isSecure ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]) + ["all_proxy", "ALL_PROXY"]
  }

  /// Returns the proxy to set in libcurl for a request; `nil` makes libcurl read the environment.
  ///
  /// If libcurl cannot decode the user name or the password of a proxy, it connects to the server
  /// directly. So this method then returns a URL that libcurl refuses, and a request through the
  /// proxy fails. Only libcurl knows which requests go through the proxy, because of `no_proxy`.
  static func option(
    _ proxy: HTTPTransportConfiguration.Proxy, isSecure: Bool
  ) -> String? {
    let refused = "refused://proxy"
    switch proxy {
    case .none: return ""
    case .url(let url):
      let text = url.absoluteString
      return isIgnored(text) ? refused : text
    case .environment:
      let text = variables(isSecure: isSecure).lazy
        .compactMap { EnvironmentVariable.bytes($0) }.first { $0.count > 1 }
        .map { String(decoding: $0.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self) }
      return text.map(isIgnored) == true ? refused : nil
    }
  }

  private static func isIgnored(_ proxy: String) -> Bool {
    proxy.contains("@") && faultOfUser(in: proxy) != nil
  }

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
      let names = Self.variables(isSecure: isSecure)
      let variable = names.first { environment[$0]?.isEmpty == false }
      name = "the variable \(variable ?? names[0])"
      text = variable.flatMap { environment[$0] }
    }
    fault = text.flatMap(Self.fault)
    isOverTLS = text.flatMap(Self.scheme) == "https"
    let port = fault == nil ? text.map(Self.port) : nil
    let host = text.flatMap { Self.part(CURLUPART_HOST, of: $0) }
    self.port = port
    address = host.flatMap { host in port.map { "\(host):\($0)" } }
    namesUser = text.flatMap { Self.part(CURLUPART_USER, of: $0) } != nil
  }

  /// Returns the port in the URL of a usable proxy; the default is 443 for https, and 1080
  /// otherwise.
  private static func port(of proxy: String) -> Int {
    part(CURLUPART_PORT, of: proxy).flatMap { Int($0) }
      ?? (scheme(of: proxy) == "https" ? 443 : 1080)
  }

  /// Returns what is wrong with a proxy's URL; `nil` if libcurl can use it.
  static func fault(of proxy: String) -> String? {
    guard let scheme = scheme(of: proxy) else {
      return "is not the URL of a proxy: it must have the form http://HOST:PORT"
        + (proxy.contains("@")
          ? ", and in a user name or a password %40 stands for @, %3A for :, %2F for / and %23 for #"
          : "")
    }
    guard schemes.contains(scheme) else {
      return "has a scheme that no proxy has: use http, https, socks4, socks4a, socks5 or socks5h"
    }
    return faultOfUser(in: proxy)
  }

  /// Returns what is wrong with the user name or the password in a proxy's URL; `nil` if libcurl
  /// can decode both.
  ///
  /// If libcurl cannot decode one of them, it connects without a proxy.
  private static func faultOfUser(in proxy: String) -> String? {
    let parts = [(CURLUPART_USER, CURLUE_NO_USER), (CURLUPART_PASSWORD, CURLUE_NO_PASSWORD)]
    let canBeDecoded = parts.allSatisfy { part, none in
      withURL(proxy) { url in
        var text: UnsafeMutablePointer<CChar>?
        let code = curl_url_get(url, part, &text, UInt32(CURLU_URLDECODE))
        curl_free(text)
        return code == CURLUE_OK || code == none
      } ?? true
    }
    return canBeDecoded
      ? nil : "has a control character, such as the end of a line, in its user name or password"
  }

  /// Parses a proxy's URL as libcurl does before it connects, and returns its scheme in lower case.
  private static func scheme(of proxy: String) -> String? {
    part(CURLUPART_SCHEME, of: proxy)?.asciiLowercased()
  }

  private static func part(_ part: CURLUPart, of proxy: String) -> String? {
    withURL(proxy) { url in
      var text: UnsafeMutablePointer<CChar>?
      guard curl_url_get(url, part, &text, 0) == CURLUE_OK, let text else { return nil }
      defer { curl_free(text) }
      return String(cString: text)
    } ?? nil
  }

  /// Returns the closure's result for a parsed proxy URL; `nil` if libcurl cannot parse the URL.
  private static func withURL<Result>(_ proxy: String, _ body: (OpaquePointer) -> Result) -> Result?
  {
    let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_GUESS_SCHEME)
    guard let url = curl_url() else { return nil }
    defer { curl_url_cleanup(url) }
    guard curl_url_set(url, CURLUPART_URL, proxy, flags) == CURLUE_OK else { return nil }
    return body(url)
  }

  private static let schemes: Set = [
    "http", "https", "socks", "socks4", "socks4a", "socks5", "socks5h",
  ]
}
