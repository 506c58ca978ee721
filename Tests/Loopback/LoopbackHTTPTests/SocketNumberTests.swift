import Foundation
import Glibc
import SQLoopback
import TestSupport
import Testing

/// Sockets in a process that has closed its standard streams.
@Suite(.timeLimit(.minutes(1))) struct SocketNumberTests {
  /// All threads share the streams, so the test runs in its own process.
  @Test(.ownThreads) func `a socket does not get the number of a closed standard stream`() async {
    await #expect(processExitsWith: .success) {
      for number in STDIN_FILENO...STDERR_FILENO { close(number) }
      let (listener, port) = try Sockets.listen(.ipv4, port: 0)
      let client = try Sockets.stream(.ipv4)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      address.sin_port = port.bigEndian
      let isConnected = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      try #require(isConnected)
      // The listener may learn of the connection a little later.
      var arrival = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
      try #require(poll(&arrival, 1, 30_000) == 1)
      let accepted = Sockets.accept(listener)?.socket ?? -1
      #expect(listener > STDERR_FILENO && client > STDERR_FILENO && accepted > STDERR_FILENO)
    }
  }
}
