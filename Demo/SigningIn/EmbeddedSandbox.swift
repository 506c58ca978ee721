import Basics
import OAuthSandbox
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a person must know of a sandbox to sign in there.
struct SandboxDescription: Sendable, Equatable, Redacted {
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
        clientID: options.clientID ?? clientID, redirectURI: options.redirectURI.string,
        scope: options.scope ?? scope,
        provider: .issuer(issuer))
      configuration.signInTimeout = options.timeout
      configuration.resourceOrigins = options.resources
      return configuration
    } catch {
      throw .refused(error)
    }
  }

  /// Where the sandbox's API says whose a token is.
  var userAddress: URL { server.url(.me) }
}

/// What the sandbox's API says of the user.
struct SandboxUserReport: Decodable {
  let userName: String

  enum CodingKeys: String, CodingKey {
    case userName = "user_name"
  }

  /// The user's name in an answer.
  static func name(in response: HTTPResponse) -> String? {
    guard response.status == 200 else { return nil }
    return try? JSONDecoder().decode(Self.self, from: response.body).userName
  }
}
