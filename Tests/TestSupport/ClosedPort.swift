import Foundation

/// A port of 127.0.0.1 on which connections are refused for as long as this is held.
///
/// It is bound and not listened on, so no other test's server can get it meanwhile.
package final class ClosedPort: Sendable {
  package let number: UInt16
  private let socket: Int32

  package init() throws {
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let socket = socket
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, length) == 0 && getsockname(socket, $0, &length) == 0
      }
    }
    guard isBound else {
      close(socket)
      throw ChildProcessError(message: "no port: \(String(cString: strerror(errno)))")
    }
    number = UInt16(bigEndian: address.sin_port)
  }

  deinit {
    close(socket)
  }
}
