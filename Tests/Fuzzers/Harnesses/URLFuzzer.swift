import CSQCurl
import FoundationEssentials
import Glibc

@testable import SQBasics
@testable import SequencingOAuth

extension Fuzzer {
  /// A fuzzer for a URL from a configuration, a document or a link.
  ///
  /// The SDK, libcurl and Foundation must see the same server in the URL.
  static let url = Fuzzer("url") { input in
    let text = String(decoding: input, as: UTF8.self)
    if let target = try? RequestTarget(text: text) { try check(target) }
    if let url = try? EndpointURL.check(text, name: "endpoint") {
      try require(url.absoluteString.hasSameBytes(as: text), "\(text) became \(url)")
      let target = try RequestTarget(url)
      try require(target.isSecure || target.isLoopback, "\(text) is neither secure nor local")
    }
    if let origin = try? ResourceOrigin(text) {
      let again = try ResourceOrigin(origin.description)
      try require(again == origin, "the origin \(origin) reads differently when written")
    }
    if let addresses = try? Discovery(issuer: text, timeout: .seconds(1)).addresses() {
      try require(!addresses.isEmpty, "an issuer \(text) without an address")
      for address in addresses { try check(address, of: text) }
    }
    if let redirect = try? RedirectURI(text), case .loopback(let loopback) = redirect.kind {
      try check(loopback)
    }
  }

  private static func check(_ target: RequestTarget) throws {
    try require(target.port > 0 && !target.host.isEmpty, "\(target.authority) of \(target.text)")
    try require(
      target.url.isASCII(withSpaces: false) && !target.url.contains("#"),
      "a request to \(target.url)")
    if let curl = CurlURL(target.url) {
      try require(
        normalized(curl.host) == normalized(target.host) && curl.port == target.port
          && curl.isSecure == target.isSecure,
        "libcurl sees \(curl) in \(target.url), the SDK \(target.authority)")
    }
    if let url = URL(string: target.url) {
      try require(
        (url.host() ?? "").lowercased().filter { $0 != "[" && $0 != "]" } == target.host
          && UInt16(url.port ?? (target.isSecure ? 443 : 80)) == target.port,
        "Foundation sees \(url.host() ?? "") in \(target.url), the SDK \(target.authority)")
    }
  }

  /// Requires that a document is requested only from the issuer's own server.
  private static func check(_ address: URL, of issuer: String) throws {
    let (target, own) = (try RequestTarget(address), try RequestTarget(text: issuer))
    try require(
      target.host == own.host && target.port == own.port && target.isSecure == own.isSecure
        && address.absoluteString.contains("/.well-known/"),
      "\(address) is requested for the issuer \(issuer)")
  }

  private static func check(_ loopback: LoopbackRedirect) throws {
    let bound = try RedirectURI(loopback.uri(port: 49_152))
    guard case .loopback(let again) = bound.kind else {
      throw Finding(description: "\(bound.string) is no loopback redirect")
    }
    try require(
      again.host == loopback.host && again.port == 49_152 && again.path == loopback.path
        && again.query == loopback.query,
      "\(bound.string) differs from what was registered")
  }

  /// Returns an IP address in a standard form, because libcurl rewrites IP addresses; any other
  /// host stays unchanged.
  private static func normalized(_ host: String) -> String {
    var six = in6_addr()
    if inet_pton(AF_INET6, host, &six) == 1 { return withUnsafeBytes(of: six) { "\(Array($0))" } }
    var four = in_addr()
    return inet_aton(host, &four) != 0 ? "\(four.s_addr)" : host
  }
}

/// A URL as libcurl reads it.
private struct CurlURL: CustomStringConvertible {
  let host: String
  let port: UInt16
  let isSecure: Bool

  /// Creates the URL, or returns `nil` if libcurl does not read it.
  init?(_ text: String) {
    guard let handle = curl_url() else { return nil }
    defer { curl_url_cleanup(handle) }
    guard curl_url_set(handle, CURLUPART_URL, text, 0) == CURLUE_OK else { return nil }
    func part(_ part: CURLUPart) -> String? {
      var value: UnsafeMutablePointer<CChar>?
      guard curl_url_get(handle, part, &value, UInt32(CURLU_DEFAULT_PORT)) == CURLUE_OK else {
        return nil
      }
      defer { curl_free(value) }
      return value.map { String(cString: $0) }
    }
    guard let scheme = part(CURLUPART_SCHEME), let host = part(CURLUPART_HOST),
      let port = part(CURLUPART_PORT).flatMap(UInt16.init)
    else { return nil }
    self.host = host.lowercased().filter { $0 != "[" && $0 != "]" }
    self.port = port
    isSecure = scheme == "https"
  }

  var description: String { "\(isSecure ? "https" : "http")://\(host):\(port)" }
}
