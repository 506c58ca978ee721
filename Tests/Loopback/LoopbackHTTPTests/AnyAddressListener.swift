import Glibc

/// A listener on every address of the host, as a hostile program would open it.
///
/// Its static functions list the host's addresses and try to connect to them.
final class AnyAddressListener {
  struct Failure: Error, Equatable { let code: Int32 }

  private let socket: Int32
  let port: UInt16

  init(port: UInt16 = 0) throws {
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var yes: Int32 = 1
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    var address = Self.address("0.0.0.0", port: port)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let socket = socket
    let code = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer -> Int32 in
        guard bind(socket, pointer, length) == 0, listen(socket, 8) == 0 else { return errno }
        return getsockname(socket, pointer, &length)
      }
    }
    self.port = UInt16(bigEndian: address.sin_port)
    guard code == 0 else { throw Failure(code: code) }
  }

  deinit {
    close(socket)
  }

  static func canConnect(to host: String, port: UInt16) -> Bool {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(socket) }
    var address = address(host, port: port)
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }

  /// Returns the IPv4 addresses of the host's interfaces, without 127.0.0.1.
  static func hostAddresses() -> [String] {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&first) == 0 else { return [] }
    defer { freeifaddrs(first) }
    var found: [String] = []
    var next = first
    while let entry = next?.pointee {
      next = entry.ifa_next
      guard let address = entry.ifa_addr, address.pointee.sa_family == sa_family_t(AF_INET) else {
        continue
      }
      let ipv4 = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        UInt32(bigEndian: $0.pointee.sin_addr.s_addr)
      }
      let text = [24, 16, 8, 0].map { String(ipv4 >> $0 & 255) }.joined(separator: ".")
      if text != "127.0.0.1" { found.append(text) }
    }
    return found
  }

  private static func address(_ host: String, port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    inet_pton(AF_INET, host, &address.sin_addr)
    return address
  }
}
