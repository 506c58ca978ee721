#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Tells whether a host is this machine, in every spelling that a resolver takes for it.
///
/// A request to one must not go to a proxy: the token in it would leave the machine in clear.
enum LoopbackHost {
  /// Whether a host, in lower case and without brackets, is a loopback address or `localhost`.
  static func contains(_ host: String) -> Bool {
    if host.utf8.contains(UInt8(ascii: ":")) { return isLoopbackIPv6(host) }
    let name = host.hasSuffix(".") ? String(host.dropLast()) : host
    // RFC 6761, section 6.3: the names under `localhost.` are loopback too.
    if name == "localhost" || name.hasSuffix(".localhost") { return true }
    // inet_aton reads 127.1, 0x7f.1 and 2130706433, as libcurl and the resolver do.
    var address = in_addr()
    guard inet_aton(name, &address) != 0 else { return false }
    let first = UInt32(bigEndian: address.s_addr) >> 24
    // Linux takes 0.0.0.0 for this machine.
    return first == 127 || address.s_addr == 0
  }

  static func isIPv6(_ text: String) -> Bool { ipv6(text) != nil }

  /// The 16 bytes of an IPv6 address.
  private static func ipv6(_ text: String) -> [UInt8]? {
    // The system reads up to a zero byte, and the text goes on.
    if text.utf8.contains(0) { return nil }
    var address = in6_addr()
    guard inet_pton(AF_INET6, text, &address) == 1 else { return nil }
    return withUnsafeBytes(of: address) { Array($0) }
  }

  private static func isLoopbackIPv6(_ text: String) -> Bool {
    guard let bytes = ipv6(text) else { return false }
    // ::1, and :: which Linux takes for it.
    if bytes.dropLast().allSatisfy({ $0 == 0 }) { return bytes[15] <= 1 }
    // ::ffff:127.0.0.0/104, and ::ffff:0.0.0.0.
    let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
    return isMapped && (bytes[12] == 127 || bytes[12...].allSatisfy { $0 == 0 })
  }
}
