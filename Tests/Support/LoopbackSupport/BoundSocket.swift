import Foundation
import TestSupport

/// A TCP socket that reserves a port of 127.0.0.1 while this object exists.
///
/// Once the socket listens, a server program can inherit it. While the socket does not listen, a
/// program that sets SO_REUSEADDR can also listen on the port itself. So a test need not look for a
/// free port, which another program could take a moment later.
package final class BoundSocket: Sendable {
  package let descriptor: Int32
  package let port: UInt16

  /// Reserves a port: a given one or, by default, one that the kernel chooses.
  ///
  /// With `isShared`, programs that set SO_REUSEPORT can listen on it together.
  package init(port: UInt16 = 0, isShared: Bool = false) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var yes: Int32 = 1
    for option in [SO_REUSEADDR] + (isShared ? [SO_REUSEPORT] : []) {
      setsockopt(descriptor, SOL_SOCKET, option, &yes, socklen_t(MemoryLayout<Int32>.size))
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    guard isBound else {
      close(descriptor)
      throw SystemCallFailed(message: "no loopback port: \(String(cString: strerror(errno)))")
    }
    self.descriptor = descriptor
    self.port = UInt16(bigEndian: address.sin_port)
  }

  deinit {
    close(descriptor)
  }

  /// Makes the socket listen.
  ///
  /// Connections wait until a program accepts them. Accepting does not block.
  package func listen() throws {
    let flags = fcntl(descriptor, F_GETFL)
    guard Glibc.listen(descriptor, 511) == 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0
    else {
      throw SystemCallFailed(message: "cannot listen: \(String(cString: strerror(errno)))")
    }
  }
}
