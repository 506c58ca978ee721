import CSQTLS
import SQBasics
import Testing

@testable import SequencingOAuth

/// How many bytes libcurl reads over TLS in one turn of its event loop, on a connection in memory.
@Suite struct ReadingTurnTests {
  /// The two ends of a TLS connection.
  ///
  /// Only the client's reads are limited.
  private final class Connection {
    let client: OpaquePointer
    let server: OpaquePointer
    private let contexts: [OpaquePointer]

    init(room: Int) throws {
      contexts = try [TLS_client_method(), TLS_server_method()].map { method in
        let context = try #require(SSL_CTX_new(method))
        // An anonymous cipher of TLS 1.2 needs no certificate.
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        SSL_CTX_set_cipher_list(context, "aNULL:@SECLEVEL=0")
        return context
      }
      SSL_CTX_set_keylog_callback(contexts[0]) { _, _ in }
      ReadingTurn.prepare(contexts[0])
      client = try #require(SSL_new(contexts[0]))
      server = try #require(SSL_new(contexts[1]))
      var ends: (OpaquePointer?, OpaquePointer?)
      BIO_new_bio_pair(&ends.0, room, &ends.1, room)
      SSL_set_bio(client, ends.0, ends.0)
      SSL_set_bio(server, ends.1, ends.1)
      SSL_set_connect_state(client)
      SSL_set_accept_state(server)
      while SSL_is_init_finished(client) == 0 || SSL_is_init_finished(server) == 0 {
        _ = ReadingTurn.take { SSL_do_handshake(client) }
        SSL_do_handshake(server)
      }
    }

    deinit {
      SSL_free(client)
      SSL_free(server)
      for context in contexts { SSL_CTX_free(context) }
    }

    var logsKeys: Bool { SSL_CTX_get_keylog_callback(contexts[0]) != nil }

    func send(_ count: Int) {
      SSL_write(server, [UInt8](repeating: 1, count: count), Int32(count))
    }

    /// Reads until nothing seems to be left.
    ///
    /// Returns the number of bytes and the reason of the end.
    func read() -> (count: Int, error: Int32) {
      var room = [UInt8](repeating: 0, count: 16_384)
      var sum = 0
      while true {
        let count = SSL_read(client, &room, Int32(room.count))
        guard count > 0 else { return (sum, SSL_get_error(client, count)) }
        sum += Int(count)
      }
    }
  }

  @Test func `a reading turn ends at its byte limit, and the next turn reads the rest`() throws {
    // Only one thread at a time may use reading turns, so the test takes the lock of the event
    // loop.
    let loop = try CurlEventLoop.shared.get()
    try loop.multi.withLock { _ throws in
      let total = 5 * ReadingTurn.size / 2
      let connection = try Connection(room: 2 * total)
      connection.send(total)
      var counts: [Int] = []
      var hasMore = true
      while hasMore, counts.count < 10 {
        hasMore = ReadingTurn.take {
          let (count, error) = connection.read()
          // After this error, libcurl waits for the network.
          #expect(error == SSL_ERROR_WANT_READ)
          counts.append(count)
        }
      }
      #expect(counts.count == 3 && counts.reduce(0, +) == total)
      #expect(counts.allSatisfy { $0 <= ReadingTurn.size })
    }
  }

  @Test(arguments: [
    ("OpenSSL/3.0.19", true), ("(GnuTLS/3.8.5) OpenSSL/3.2.1", true), ("OpenSSL/3.0.8+quic", true),
    ("OpenSSL/4.0.1", false), ("OpenSSL/30.1", false), ("OpenSSL/1.1.1w", false),
    ("GnuTLS/3.8.5 (OpenSSL/3.2.1)", false), ("LibreSSL/3.9.2", false), ("BoringSSL", false),
    ("", false),
  ])
  func `libcurl's TLS objects are used only if it has an OpenSSL of the program's major version`(
    library: String, isOurs: Bool
  ) {
    #expect(ReadingTurn.isOpenSSL(library, major: 3) == isOurs)
    #expect(ReadingTurn.usesOurOpenSSL)
  }

  @Test func `the secrets of a connection are not logged to a file`() throws {
    let loop = try CurlEventLoop.shared.get()
    try loop.multi.withLock { _ throws in
      let connection = try Connection(room: 65_536)
      #expect(!connection.logsKeys)
    }
  }
}
