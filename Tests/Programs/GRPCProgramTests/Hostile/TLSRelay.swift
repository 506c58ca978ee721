import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import SequencingOAuthGRPC
import TestSupport
import Testing

@testable import GRPCSupport

/// A program that adds TLS to a server without TLS.
///
/// The program ends when this object is released.
///
/// The script `Servers/tls/relay` describes the options.
final class TLSRelay: Sendable {
  let port: UInt16
  private let process: ChildProcess

  private static let script = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../Servers/tls/relay").standardized.path

  /// Starts a relay that presents a certificate.
  init(
    to port: UInt16, _ certificates: Certificates, certificate: String = "server",
    protocols: String? = "h2", options: [String] = []
  ) async throws {
    let key = certificate == "expired" ? "server" : certificate
    var command = [
      Self.script, "--to", "\(port)", "--tls", certificates.path("\(certificate).pem"),
      certificates.path("\(key).key"),
    ]
    if let protocols { command += ["--protocols", protocols] }
    process = try ChildProcess(command + options, input: .open)
    self.port = try #require(UInt16(try await process.line(after: "PORT=")))
  }

  func channel(_ configuration: HTTPTransportConfiguration) throws -> RPCChannel {
    let url = try #require(URL(string: "https://127.0.0.1:\(port)"))
    return try RPCChannel(url: url, options: .short, configuration: configuration)
  }
}
