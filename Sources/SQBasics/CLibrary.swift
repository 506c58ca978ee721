import SQLibC

/// Functions of the C library, for modules that make no system calls themselves.
package enum CLibrary {
  /// Returns the system's description of an `errno`.
  package static func meaning(of errno: Int32) -> String { String(cString: strerror(errno)) }

  package static func power(_ base: Double, _ exponent: Double) -> Double { pow(base, exponent) }

  /// Returns the four bytes of an IPv4 address; `nil` if the text is not one.
  ///
  /// It accepts every spelling that a resolver accepts, such as 127.1 or 0x7f.1.
  ///
  /// - SeeAlso: inet_aton(3)
  package static func ipv4(_ text: String) -> [UInt8]? {
    var address = in_addr()
    guard inet_aton(text, &address) != 0 else { return nil }
    return withUnsafeBytes(of: address) { Array($0) }
  }

  /// Returns the 16 bytes of an IPv6 address; `nil` if the text is not one.
  ///
  /// - SeeAlso: inet_pton(3)
  package static func ipv6(_ text: String) -> [UInt8]? {
    // `inet_pton` stops at a zero byte and would ignore the rest of the text.
    if text.utf8.contains(0) { return nil }
    var address = in6_addr()
    guard inet_pton(AF_INET6, text, &address) == 1 else { return nil }
    return withUnsafeBytes(of: address) { Array($0) }
  }
}
