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

/// STUB
final class EmbeddedSandbox: Sendable {
  let issuer = "http://127.0.0.1:1"
  let clientID = "sq-demo"
  let scope = "profile demo"
  init(port: UInt16 = 0) throws(Failure) {}
  var description: SandboxDescription { .init(issuer: issuer, user: "alice", password: "p") }
  func configuration(for options: SignInOptions) throws(Failure) -> ClientConfiguration {
    do throws(SQOAuthError) {
      var configuration = try ClientConfiguration(
        clientID: clientID, redirectURI: options.redirectURI, scope: options.scope ?? scope,
        provider: .issuer(issuer))
      configuration.signInTimeout = options.timeout
      return configuration
    } catch {
      throw .refused(error)
    }
  }
  func stop() async {}
  func user(of token: SQToken) async -> String? { nil }
  static let visitor: any UserAgent = CustomUserAgent { _ in }

  static func canBeVisited(_ address: String) -> Bool {
    guard let host = URL(string: address)?.host() else { return false }
    return ["127.0.0.1", "::1", "[::1]", "localhost"].contains(host.lowercased())
  }
}
