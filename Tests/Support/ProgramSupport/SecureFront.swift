import Foundation
import LoopbackSupport
package import OAuthSandbox
import TestSupport

/// nginx with a certificate of a private authority, in front of a sandbox.
package final class SecureFront: Sendable {
  private let process: ChildProcess
  private let socket: BoundSocket
  private let folder: TemporaryFolder

  /// Starts nginx; with `demandsCertificate`, it rejects clients without a certificate.
  ///
  /// nginx sends the subject of the client's certificate to the sandbox in `X-Client-Name`.
  package init(
    before sandbox: SandboxServer, _ certificates: Certificates, certificate: String = "other",
    demandsCertificate: Bool = false
  ) throws {
    socket = try BoundSocket()
    try socket.listen()
    folder = try TemporaryFolder()
    let key = certificate == "expired" ? "server" : certificate
    try folder.write(
      """
      daemon off;
      worker_processes 1;
      pid nginx.pid;
      error_log stderr;
      \(NginxProcess.user)
      events { worker_connections 64; }
      http {
        access_log off;
        client_body_temp_path body;
        proxy_temp_path proxied;
        fastcgi_temp_path fastcgi;
        uwsgi_temp_path uwsgi;
        scgi_temp_path scgi;
        server {
          listen 127.0.0.1:\(socket.port) ssl;
          ssl_certificate \(certificates.path("\(certificate).pem"));
          ssl_certificate_key \(certificates.path("\(key).key"));
          ssl_client_certificate \(certificates.path("ca.pem"));
          ssl_verify_client \(demandsCertificate ? "on" : "off");
          location / {
            proxy_pass http://127.0.0.1:\(sandbox.issuer.port ?? 0);
            proxy_set_header X-Client-Name $ssl_client_s_dn;
          }
        }
      }
      """, to: "nginx.conf")
    process = try NginxProcess.start(in: folder, [socket])
  }

  /// The port of 127.0.0.1 on which nginx listens.
  package var port: UInt16 { socket.port }

  /// What nginx has written to standard error so far.
  package var errors: String { process.errors }
}
