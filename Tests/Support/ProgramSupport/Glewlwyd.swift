import Foundation
import SQBasics
import TestSupport

/// An authorization server of other authors, glewlwyd, that a test runs on a free port.
///
/// It has the users and clients of ``User`` and ``Client``. A client's redirect URI must come from
/// ``takeRedirectURI()``, and its post-logout redirect URI from ``takeLogoutURI()``. The script
/// that runs the server describes the rest of its configuration.
package final class Glewlwyd: Sendable {
  /// A user with an account.
  package enum User: String, Sendable {
    case alice
    case bob
    package var password: String { "\(rawValue)-password" }
  }

  /// An application that the server knows.
  package enum Client: String, Sendable {
    case `public`
    case confidential
    /// A client whose secret contains characters that forms encode.
    case awkward
    /// A client with a key; only a server with the setting `CLIENT_KEYS` knows this client.
    case keyed

    package var secret: String? {
      switch self {
      case .public, .keyed: nil
      case .confidential: "s3cr3t"
      case .awkward: "~a b/c=d+e%41*"
      }
    }
  }

  package let issuer: String
  private let process: ChildProcess
  private let redirectPorts: Locked<[Substring]>

  private init(issuer: String, process: ChildProcess, redirectPorts: [Substring]) {
    self.issuer = issuer
    self.process = process
    self.redirectPorts = Locked(redirectPorts)
  }

  /// Starts a server, which ends with ``stop()`` or when its last reference is released.
  ///
  /// Further settings are environment variables of the script, for example `PAR_REQUIRED`.
  package static func start(
    accessTTL: Duration = .seconds(3600), settings: [String: String] = [:]
  ) async throws -> Glewlwyd {
    let script = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Programs/LiveTests/Servers/glewlwyd/run").standardized.path
    let ports = try (0...8).map { _ in "\(try FreePort.take())" }
    let defaults = [
      "ACCESS_TTL": "\(accessTTL.components.seconds)", "PORT": ports[0],
      "REDIRECT_PORTS": ports.dropFirst().joined(separator: " "),
    ]
    let variables = defaults.merging(settings) { $1 }
    let process = try ChildProcess(
      [script], environment: variables.mapValues(Optional.some), input: .open)
    return Glewlwyd(
      issuer: try await process.line(after: "ISSUER="), process: process,
      redirectPorts: try await process.line(after: "REDIRECT_PORTS=").split(separator: " "))
  }

  /// Runs a body with a server, and stops the server afterwards.
  package static func running<Result: Sendable>(
    accessTTL: Duration = .seconds(3600), settings: [String: String] = [:],
    _ body: (Glewlwyd) async throws -> Result
  ) async throws -> Result {
    let server = try await start(accessTTL: accessTTL, settings: settings)
    return try await stopping({ await server.stop() }) { try await body(server) }
  }

  /// Ends the server, and removes its files.
  package func stop() async {
    await process.stop()
  }

  /// The address of the server's login page.
  package var authorizationEndpoint: String { issuer + "/auth" }
  /// The address of the server's token endpoint.
  package var tokenEndpoint: String { issuer + "/token" }

  /// Returns a redirect URI that all clients have, with a port that no other test uses.
  package func takeRedirectURI() throws -> String { try takeURI(path: "callback") }

  /// Returns a post-logout redirect URI that all clients have, with a port that no other test uses.
  package func takeLogoutURI() throws -> String { try takeURI(path: "signed-out") }

  private func takeURI(path: String) throws -> String {
    guard let port = redirectPorts.withLock({ $0.popLast() }) else {
      throw ChildProcessError(message: "glewlwyd: no redirect port is left; set REDIRECT_PORTS")
    }
    return "http://127.0.0.1:\(port)/\(path)"
  }
}
