import SQBasics
package import SQFoundation
import SQLibC
package import SQLoopback

/// The client's end of a connection to a loopback port, for reading and writing bytes.
///
/// Each call waits on its own thread, so that a test can hold many connections without blocking the
/// cooperative pool. The class is made for tests and for acting as the user, not for speed.
package final class LoopbackConnection: Sendable {
  private let socket: Int32

  package init(to address: LoopbackAddress = .ipv4, port: UInt16) async throws(LoopbackError) {
    socket = try await Self.onThread {
      Result { () throws(LoopbackError) in
        let socket = try Sockets.stream(address)
        let isConnected = SocketAddress(address, port: port).withPointer {
          connect(socket, $0, $1) == 0
        }
        guard isConnected else {
          let code = errno
          Sockets.close(socket)
          throw .system(errno: code)
        }
        Sockets.set(socket, Int32(IPPROTO_TCP), TCP_NODELAY)
        return socket
      }
    }
  }

  deinit {
    Sockets.close(socket)
  }

  /// Sends all bytes, and waits while the socket accepts none.
  package func send(_ bytes: Data) async throws(LoopbackError) {
    _ = try await Self.onThread { self.sendAll(bytes) }
  }

  /// Reads some bytes, and returns an empty value at the end of the stream.
  ///
  /// - Throws: `LoopbackError.system(errno:)`, with `ETIMEDOUT` if no bytes arrive within `limit`.
  package func receive(within limit: Duration = .seconds(60)) async throws(LoopbackError) -> Data {
    let end = Monotonic.after(limit)
    return try await Self.onThread { self.receiveSome(until: end) }
  }

  private static func onThread<Value: Sendable>(
    _ work: @escaping @Sendable () -> Result<Value, LoopbackError>
  ) async throws(LoopbackError) -> Value {
    guard let result = await Threads.run(work) else { throw .system(errno: EAGAIN) }
    return try result.get()
  }

  private func sendAll(_ bytes: Data) -> Result<Int, LoopbackError> {
    var rest = bytes[...]
    while !rest.isEmpty {
      switch rest.withUnsafeBytes({ SocketIO.send(socket, $0) }) {
      case .bytes(let count): rest = rest.dropFirst(count)
      case .wait, .end: return .failure(.system(errno: EAGAIN))
      case .failed(let code): return .failure(.system(errno: code))
      }
    }
    return .success(bytes.count)
  }

  private func receiveSome(until end: UInt64) -> Result<Data, LoopbackError> {
    var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    while true {
      let ready = poll(&entry, 1, Monotonic.timeout(until: end))
      if ready == 0 { return .failure(.system(errno: ETIMEDOUT)) }
      if ready < 0 {
        guard errno == EINTR else { return .failure(.system(errno: errno)) }
        continue
      }
      var bytes = Data(count: 64 * 1024)
      switch bytes.withUnsafeMutableBytes({ SocketIO.receive(socket, into: $0) }) {
      case .bytes(let count): return .success(Data(bytes.prefix(count)))
      case .wait: continue
      case .end: return .success(Data())
      case .failed(let code): return .failure(.system(errno: code))
      }
    }
  }

  /// Reads all bytes up to the end of the stream.
  ///
  /// - Throws: `LoopbackError.system(errno:)`, with `EMSGSIZE` if there are more than
  ///   `maximumBytes`, and with `ETIMEDOUT` if the stream does not end within `limit`.
  package func receiveAll(
    atMost maximumBytes: Int = 1 << 24, within limit: Duration = .seconds(60)
  ) async throws(LoopbackError) -> Data {
    let end = Monotonic.after(limit)
    var all = Data()
    while all.count <= maximumBytes {
      // While the server keeps sending, `receiveSome` alone would never time out.
      guard Monotonic.now() < end else { throw .system(errno: ETIMEDOUT) }
      let bytes = try await Self.onThread { self.receiveSome(until: end) }
      guard !bytes.isEmpty else { return all }
      all.append(bytes)
    }
    throw .system(errno: EMSGSIZE)
  }

  /// Ends this side of the connection, while bytes from the server can still be read.
  package func finishSending() {
    Sockets.finishSending(socket)
  }

  /// Ends both sides of the connection, so that the server reads the end of the stream.
  package func close() {
    shutdown(socket, Int32(SHUT_RDWR))
  }
}
