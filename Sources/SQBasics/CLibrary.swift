#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Functions of the C library for parts that make no system calls themselves.
package enum CLibrary {
  /// What an `errno` means, in the system's words.
  package static func meaning(of errno: Int32) -> String { String(cString: strerror(errno)) }

  package static func power(_ base: Double, _ exponent: Double) -> Double { pow(base, exponent) }

  /// The four bytes of an IPv4 address in any spelling that a resolver knows, such as 127.1 or
  /// 0x7f.1.
  ///
  /// - SeeAlso: inet_aton(3)
  package static func ipv4(_ text: String) -> [UInt8]? {
    var address = in_addr()
    guard inet_aton(text, &address) != 0 else { return nil }
    return withUnsafeBytes(of: address) { Array($0) }
  }

  /// The 16 bytes of an IPv6 address.
  ///
  /// - SeeAlso: inet_pton(3)
  package static func ipv6(_ text: String) -> [UInt8]? {
    // The system reads up to a zero byte, and the text goes on.
    if text.utf8.contains(0) { return nil }
    var address = in6_addr()
    guard inet_pton(AF_INET6, text, &address) == 1 else { return nil }
    return withUnsafeBytes(of: address) { Array($0) }
  }
}
