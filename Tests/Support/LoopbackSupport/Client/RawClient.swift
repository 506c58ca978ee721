import Foundation
import Glibc
import Testing

/// A client that writes raw bytes, as an attacker on the same machine could.
final class RawClient: Sendable {
  private let socket: Int32

  /// Connects, or throws the error of connect(2).
  init(_ host: String = "127.0.0.1", port: UInt16) throws {
    let isIPv6 = host.contains(":")
    let descriptor = Glibc.socket(
      isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var timeout = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    let result: Int32
    if isIPv6 {
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = port.bigEndian
      inet_pton(AF_INET6, host, &address.sin6_addr)
      result = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
        }
      }
    } else {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      inet_pton(AF_INET, host, &address.sin_addr)
      result = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
    }
    guard result == 0 else {
      let error = errno
      close(descriptor)
      throw POSIXError(POSIXErrorCode(rawValue: error) ?? .EIO)
    }
    socket = descriptor
  }

  deinit { close(socket) }

  func write(_ text: String) {
    let bytes = Array(text.utf8)
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      sent += count
    }
  }

  /// Closes the connection for writing.
  func finish() { shutdown(socket, Int32(SHUT_WR)) }

  /// Returns everything that the peer sends until it closes, without blocking a thread of the pool.
  ///
  /// Records an issue if the peer neither sends nor closes for 20 s.
  func readToEnd(sourceLocation: SourceLocation = #_sourceLocation) async -> String {
    let (answer, isSilent): (String, Bool) = await withCheckedContinuation { continuation in
      Thread.detachNewThread { [self] in
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var isTimeUp = false
        while true {
          let count = recv(socket, &buffer, buffer.count, 0)
          guard count > 0 else {
            isTimeUp = count < 0 && errno == EAGAIN
            break
          }
          content += buffer[..<count]
        }
        continuation.resume(returning: (String(decoding: content, as: UTF8.self), isTimeUp))
      }
    }
    if isSilent {
      Issue.record("the peer did not close the connection", sourceLocation: sourceLocation)
    }
    return answer
  }

  /// Sends a request, and returns the complete answer.
  static func ask(_ text: String, host: String = "127.0.0.1", port: UInt16) async throws -> String {
    let client = try RawClient(host, port: port)
    client.write(text)
    return await client.readToEnd()
  }

  /// Sends a GET request as a browser does, and returns the complete answer.
  static func get(_ url: URL) async throws -> String {
    let host = url.host() ?? ""
    let port = UInt16(url.port ?? 80)
    let authority = host.contains(":") ? "[\(host)]" : host
    let query = url.query(percentEncoded: true).map { "?\($0)" } ?? ""
    return try await ask(
      "GET \(url.path(percentEncoded: true))\(query) HTTP/1.1\r\nHost: \(authority):\(port)\r\n"
        + "Connection: close\r\n\r\n",
      host: host == "localhost" ? "127.0.0.1" : host, port: port)
  }

  static func status(_ answer: String) -> Int? {
    answer.split(separator: " ").dropFirst().first.flatMap { Int($0) }
  }

  /// Returns whether a program listens on the port.
  static func isOpen(_ host: String = "127.0.0.1", port: UInt16) -> Bool {
    (try? RawClient(host, port: port)) != nil
  }

  /// An IPv4 address of this machine that is not loopback, or `nil` if it has none.
  static let ownAddress: String? = {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&list) == 0 else { return nil }
    defer { freeifaddrs(list) }
    var next = list
    while let entry = next {
      next = entry.pointee.ifa_next
      guard let address = entry.pointee.ifa_addr, address.pointee.sa_family == sa_family_t(AF_INET)
      else { continue }
      var name = [CChar](repeating: 0, count: 64)
      let size = socklen_t(MemoryLayout<sockaddr_in>.size)
      guard getnameinfo(address, size, &name, 64, nil, 0, NI_NUMERICHOST) == 0 else { continue }
      let text = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
      if !text.hasPrefix("127.") { return text }
    }
    return nil
  }()

  /// Whether this machine has the address ::1.
  static let hasIPv6: Bool = {
    let descriptor = Glibc.socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_addr = in6addr_loopback
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
      }
    } == 0
  }()
}
