import OAuthSandbox
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a person must know of a sandbox to sign in there.
struct SandboxDescription: Sendable, Equatable {
  let issuer: String
  let user: String
  let password: String
}

/// The authorization server inside the program, and its client.
final class EmbeddedSandbox: Sendable {
  let clientID = "sq-demo"
  let scope = "profile demo files"
  let description: SandboxDescription
  private let server: SandboxServer

  var issuer: String { description.issuer }
  /// The base of its drive.
  var drive: String { server.driveURL.absoluteString }

  /// Starts it, with a client that may send its users to a redirect URI.
  init(
    redirectURI: String = SignInOptions.defaultRedirectURI, tokenLifetime: Duration
  ) async throws(Failure) {
    var options = SandboxOptions()
    options.clients = [
      SandboxClient(id: clientID, name: "SequencingOAuth demo", redirectURIs: [redirectURI])
    ]
    options.accessTokenLifetime = tokenLifetime
    server = try await Self.start(options)
    let user = options.users.first ?? .alice
    description = SandboxDescription(
      issuer: server.issuer.absoluteString, user: user.name, password: user.password)
  }

  /// Runs a body with a sandbox that ends with it.
  static func running(
    redirectURI: String = SignInOptions.defaultRedirectURI, tokenLifetime: Duration,
    _ body: (EmbeddedSandbox) async throws(Failure) -> Void
  ) async throws(Failure) {
    let sandbox = try await EmbeddedSandbox(
      redirectURI: redirectURI, tokenLifetime: tokenLifetime)
    let outcome: Result<Void, Failure>
    do throws(Failure) {
      outcome = .success(try await body(sandbox))
    } catch {
      outcome = .failure(error)
    }
    await sandbox.stop()
    try outcome.get()
  }

  /// Starts a sandbox, with the reason where it does not.
  static func start(_ options: SandboxOptions) async throws(Failure) -> SandboxServer {
    do throws(SandboxError) {
      return try await SandboxServer.start(options)
    } catch {
      throw switch error {
      case .portInUse(let port):
        Failure(
          "port_in_use", "port \(port) belongs to another program", status: .notAuthorized)
      default:
        Failure(
          "sandbox_unavailable", "the sandbox could not listen on 127.0.0.1",
          status: .notAuthorized)
      }
    }
  }

  /// Ends it; its tokens are worth nothing from then on.
  private func stop() async {
    await server.stop()
  }

  /// Ends every session, as an administrator does; the apps find out at their next request.
  func endSessions() {
    server.revokeEverything()
  }

  /// Its client, with what the options ask for.
  func configuration(for options: SignInOptions) throws(Failure) -> ClientConfiguration {
    do throws(SQOAuthError) {
      var configuration = try ClientConfiguration(
        clientID: clientID, redirectURI: options.redirectURI.string, scope: options.scope ?? scope,
        provider: .issuer(issuer))
      configuration.signInTimeout = options.timeout
      configuration.resourceOrigins = options.resources
      return configuration
    } catch {
      throw .refused(error)
    }
  }

  /// Asks the sandbox's API whose a token is.
  func user(of token: SQToken) async -> String? {
    let request = HTTPRequest(
      url: server.url(.me), headers: ["Authorization": "Bearer \(token.accessToken)"])
    guard let response = try? await CurlHTTPClient.shared.send(request), response.status == 200
    else { return nil }
    return try? JSONDecoder().decode(Me.self, from: response.body).userName
  }

  private struct Me: Decodable {
    let userName: String

    enum CodingKeys: String, CodingKey {
      case userName = "user_name"
    }
  }
}

// MARK: - Visiting a sandbox

extension EmbeddedSandbox {
  /// Plays the user at a sandbox, here or in another process, without a browser.
  ///
  /// It calls a redirect on a loopback address itself; `pass` gets any other.
  static func visitor(pass: @escaping @Sendable (String) -> Void = { _ in }) -> any UserAgent {
    CustomUserAgent { url in
      let redirect: String
      do throws(SandboxError) {
        redirect = try await SandboxVisitor().visit(url).redirect
      } catch {
        try Task.checkCancellation()
        throw SQOAuthError(
          .browserUnavailable, "the visitor was not sent back to the program: \(error)",
          cause: error)
      }
      try Task.checkCancellation()
      if !redirect.hasPrefix("http:") { pass(redirect) }
    }
  }

  /// Whether an address is one where the visitor may type the sandbox's password.
  static func canBeVisited(_ address: String) -> Bool {
    guard let url = URL(string: address), url.scheme == "http", let host = url.host() else {
      return false
    }
    return ["127.0.0.1", "::1", "[::1]", "localhost"].contains(host.lowercased())
  }
}
