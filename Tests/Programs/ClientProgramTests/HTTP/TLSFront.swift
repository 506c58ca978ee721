import Foundation
import ProgramSupport
import SequencingOAuth
import Testing

@testable import LoopbackSupport
@testable import TestSupport

/// A TLS proxy for a test server without TLS.
///
/// The proxy is a Python script that uses Python's OpenSSL. When one side closes a connection, the
/// other side is closed at once, without the `close_notify` of TLS.
struct TLSFront {
  private let program: Program
  private let certificates: Certificates

  private static let script = """
    import socket, ssl, sys, threading

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(sys.argv[3], sys.argv[4])
    context.set_alpn_protocols([sys.argv[5]])

    def copy(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass
        for side in (source, target):
            try:
                side.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def serve(client):
        try:
            client = context.wrap_socket(client, server_side=True)
            server = socket.create_connection(("127.0.0.1", int(sys.argv[2])))
        except OSError:
            return
        threading.Thread(target=copy, args=(server, client), daemon=True).start()
        copy(client, server)

    listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
    """

  /// Starts the proxy in front of `server`; `version` is the HTTP version that `server` speaks,
  /// named as in ALPN.
  init(before server: RawServer, speaking version: String = "h2") async throws {
    let certificates = try await Certificates()
    self.certificates = certificates
    program = try await Program.serving { port in
      [
        "/usr/bin/python3", "-c", Self.script, "\(port)", "\(server.port)",
        certificates.path("server.pem"), certificates.path("server.key"), version,
      ]
    }
  }

  var url: URL? { URL(string: "https://127.0.0.1:\(program.port)/") }

  /// Returns a client that trusts the proxy's certificate.
  func client() throws -> CurlTransport {
    var configuration = HTTPTransportConfiguration.direct
    configuration.additionalAuthorities = try certificates.data("ca.pem")
    return CurlTransport(configuration: configuration)
  }
}
