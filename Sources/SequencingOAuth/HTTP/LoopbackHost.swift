import SQBasics

/// The two rules that decide whether a host is this machine.
///
/// The host must be in lower case and without brackets. There are two rules because the two
/// possible mistakes do different harm. If another machine is taken for this one, a token goes to
/// it over plain http. If this machine is not recognized, a request to it leaves the machine
/// through a proxy.
enum LoopbackHost {
  /// Returns whether every parser and resolver treats the host as this machine.
  ///
  /// Such a host is `localhost`, `::1`, or an address of 127.0.0.0/8 in four plain numbers. Plain
  /// http is allowed only to such a host (RFC 8252, section 8.3). Names are not resolved.
  static func isAddress(_ host: String) -> Bool {
    if host == "localhost" || host == "::1" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127"
      && parts.allSatisfy { part in
        // No leading zeros: some resolvers read those as octal.
        UInt8(part).map { String($0) == part } ?? false
      }
  }

  /// Returns whether at least one resolver treats the host as this machine, in any spelling.
  ///
  /// A request to such a host must not go to a proxy: its token would leave the machine
  /// unencrypted.
  static func mayBeMeant(by host: String) -> Bool {
    if host.utf8.contains(UInt8(ascii: ":")) { return isLoopbackIPv6(host) }
    let name = host.hasSuffix(".") ? String(host.dropLast()) : host
    // RFC 6761, section 6.3: the names under `localhost.` are loopback too.
    if name == "localhost" || name.hasSuffix(".localhost") { return true }
    // libcurl and the resolver also read 127.1, 0x7f.1 and 2130706433 as 127.0.0.1.
    guard let bytes = CLibrary.ipv4(name) else { return false }
    // Linux treats 0.0.0.0 as this machine.
    return bytes[0] == 127 || bytes.allSatisfy { $0 == 0 }
  }

  static func isIPv6(_ text: String) -> Bool { CLibrary.ipv6(text) != nil }

  private static func isLoopbackIPv6(_ text: String) -> Bool {
    guard let bytes = CLibrary.ipv6(text) else { return false }
    // ::1 and ::; Linux treats :: as this machine.
    if bytes.dropLast().allSatisfy({ $0 == 0 }) { return bytes[15] <= 1 }
    // ::ffff:127.0.0.0/104, and ::ffff:0.0.0.0.
    let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
    return isMapped && (bytes[12] == 127 || bytes[12...].allSatisfy { $0 == 0 })
  }
}
