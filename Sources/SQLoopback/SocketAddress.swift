package import SQLibC

/// A loopback address and a port, in the form that socket functions take.
package struct SocketAddress {
  private var ipv4 = sockaddr_in()
  private var ipv6 = sockaddr_in6()
  private let address: LoopbackAddress

  package init(_ address: LoopbackAddress, port: UInt16) {
    self.address = address
    ipv4.sin_family = sa_family_t(AF_INET)
    ipv4.sin_port = port.bigEndian
    ipv4.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    ipv6.sin6_family = sa_family_t(AF_INET6)
    ipv6.sin6_port = port.bigEndian
    withUnsafeMutableBytes(of: &ipv6.sin6_addr) { $0[15] = 1 }
  }

  package func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result
  {
    switch address {
    case .ipv4: Self.rebound(ipv4, body)
    case .ipv6: Self.rebound(ipv6, body)
    }
  }

  private static func rebound<Address, Result>(
    _ address: Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<Address>.size))
      }
    }
  }

  /// Returns the port that a socket is bound to.
  static func localPort(of socket: Int32) throws(LoopbackError) -> UInt16 {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let code = withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
    }
    guard code == 0 else { throw .system(errno: errno) }
    return port(of: storage)
  }

  /// Returns the port in an IPv4 or IPv6 address; both have it at the same offset.
  static func port(of storage: sockaddr_storage) -> UInt16 {
    withUnsafeBytes(of: storage) { $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self).bigEndian }
  }
}
