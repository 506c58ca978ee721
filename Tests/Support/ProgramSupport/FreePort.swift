import LoopbackSupport
import SQBasics
import TestSupport

/// Ports of 127.0.0.1 for servers that cannot inherit a bound socket.
enum FreePort {
  /// The ports that were given away.
  private static let taken = Locked<Set<UInt16>>([])

  /// Returns a port that no program uses and that this process has not given away before.
  ///
  /// It is below the kernel's range for clients, so that no client takes it before the server.
  static func take() throws -> UInt16 {
    for _ in 0..<1000 {
      let port = UInt16.random(in: 10_240..<32_768)
      guard taken.withLock({ $0.insert(port).inserted }) else { continue }
      if (try? BoundSocket(port: port)) != nil { return port }
    }
    throw SystemCallFailed(message: "no free loopback port")
  }
}
