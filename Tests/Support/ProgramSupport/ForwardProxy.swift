import Foundation
import LoopbackSupport
import TestSupport

/// An HTTP proxy in a separate process: the only way to servers whose names no resolver knows.
///
/// It forwards the connections for each host name to a port of 127.0.0.1. Python and its OpenSSL
/// run the proxy.
package final class ForwardProxy: Sendable {
  /// A server behind the proxy.
  package struct Host: Sendable, Encodable {
    let port: UInt16
    /// The protocol that the proxy chooses (ALPN) if it decrypts the TLS connections to the server;
    /// `nil` if it does not decrypt them.
    let opened: String?

    /// Returns a server at a port of 127.0.0.1 that gets the client's bytes unchanged.
    package static func at(_ port: UInt16) -> Host { Host(port: port, opened: nil) }

    /// Returns a server whose TLS connections the proxy decrypts.
    ///
    /// The proxy shows the client the proxy's certificate, reads the content, and opens a TLS
    /// connection to the server at the port of 127.0.0.1. `name` is the protocol that the proxy
    /// chooses (ALPN).
    package static func inspected(at port: UInt16, _ name: String = "http/1.1") -> Host {
      Host(port: port, opened: name)
    }
  }

  private struct Options: Encodable {
    let hosts: [String: Host]
    let credentials: String?
    let authority: String
    let chain: String
    let key: String
    let isSecure: Bool
  }

  private let process: ChildProcess
  private let socket: BoundSocket

  /// Starts a proxy.
  ///
  /// `credentials` is the user and the password that the proxy demands, with a colon between them.
  /// A secure proxy is reached over TLS, and its certificate is for 127.0.0.1. The certificate of
  /// any other proxy is for `other.example`. The proxy shows its certificate in the connections
  /// that it decrypts.
  package init(
    to hosts: [String: Host], _ certificates: Certificates, credentials: String? = nil,
    isSecure: Bool = false
  ) throws {
    let name = isSecure ? "server" : "other"
    let options = Options(
      hosts: hosts, credentials: credentials.map { Data($0.utf8).base64EncodedString() },
      authority: certificates.path("ca.pem"), chain: certificates.path("\(name).pem"),
      key: certificates.path("\(name).key"),
      isSecure: isSecure)
    socket = try BoundSocket()
    try socket.listen()
    process = try ChildProcess(
      [
        "/usr/bin/python3", "-c", Self.script,
        String(decoding: try JSONEncoder().encode(options), as: UTF8.self),
      ], sockets: [socket.descriptor], input: .open)
  }

  /// The host and the port of the proxy.
  package var authority: String { "127.0.0.1:\(socket.port)" }

  /// The requests so far, each with its answer's status, such as `CONNECT other.example:443 200`.
  package var requests: [String] { process.output.split(separator: "\n").map(String.init) }

  /// Waits until the proxy has reported at least `count` requests, and returns all so far.
  package func requests(atLeast count: Int) async throws -> [String] {
    try await eventually("the proxy reports \(count) requests") {
      let all = requests
      return all.count >= count ? all : nil
    }
  }

  /// The errors that the proxy has reported so far.
  package var errors: String { process.errors }

  private static let script = """
    import json, os, socket, ssl, sys, threading

    options = json.loads(sys.argv[1])
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(options["chain"], options["key"])

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

    def head_of(client):
        head = b""
        while not head.endswith(b"\\r\\n\\r\\n"):
            byte = client.recv(1)
            if not byte:
                raise OSError("the client left")
            head += byte
        lines = head.decode("latin-1").split("\\r\\n")
        return lines[0].split(" "), dict(
            (line.split(": ", 1)[0].lower(), line.split(": ", 1)[1])
            for line in lines[1:] if ": " in line)

    def status_of(method, host, fields):
        wanted = options.get("credentials")
        if wanted and fields.get("proxy-authorization") != "Basic " + wanted:
            return "407 Proxy Authentication Required"
        if method != "CONNECT":
            return "405 Method Not Allowed"
        return "200 OK" if host else "502 Bad Gateway"

    def serve(client):
        try:
            if options["isSecure"]:
                client = context.wrap_socket(client, server_side=True)
            (method, target, _), fields = head_of(client)
            host = options["hosts"].get(target.rsplit(":", 1)[0])
            status = status_of(method, host, fields)
            print(method, target, status[:3], flush=True)
            challenge = "Proxy-Authenticate: Basic realm=proxy\\r\\n" if status[:3] == "407" else ""
            client.sendall(f"HTTP/1.1 {status}\\r\\n{challenge}\\r\\n".encode())
            if status[:3] != "200":
                return client.close()
            if host.get("opened"):
                inner = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
                inner.load_cert_chain(options["chain"], options["key"])
                inner.set_alpn_protocols([host["opened"]])
                client = inner.wrap_socket(client, server_side=True)
            server = socket.create_connection(("127.0.0.1", host["port"]))
            if host.get("opened"):
                outer = ssl.create_default_context(cafile=options["authority"])
                server = outer.wrap_socket(server, server_hostname=target.rsplit(":", 1)[0])
        except OSError as error:
            print(error, file=sys.stderr, flush=True)
            return
        threading.Thread(target=copy, args=(server, client), daemon=True).start()
        copy(client, server)

    def end_with_test():
        sys.stdin.read()
        os._exit(0)

    threading.Thread(target=end_with_test, daemon=True).start()
    listener = socket.socket(fileno=3)
    listener.setblocking(True)
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
    """
}
