import Foundation
import LoopbackSupport
import OAuthSandbox
import ProgramSupport
import SequencingOAuth
import SequencingOAuthGRPC
import TestSupport

@testable import GRPCSupport

/// A gRPC server that accepts a sandbox's tokens, and an account with such a token.
final class CallFixture: Sendable {
  let sandbox: SandboxServer
  let server: GRPCServer
  let module: AuthorizationModule
  let channel: RPCChannel

  private init(
    _ sandbox: SandboxServer, _ server: GRPCServer, _ certificates: Certificates?,
    _ options: RPCOptions, change: (inout ClientConfiguration) -> Void
  ) throws {
    self.sandbox = sandbox
    self.server = server
    var configuration = try ClientConfiguration(
      clientID: "sandbox-app", redirectURI: "http://127.0.0.1/callback", scope: "demo",
      provider: .issuer(sandbox.issuer.absoluteString))
    change(&configuration)
    var environment = ClientEnvironment()
    environment.transport = CurlTransport(configuration: .direct)
    module = AuthorizationModule(configuration: configuration, environment: environment)
    channel = try RPCChannel(
      url: server.url, credential: .account(module), options: options,
      configuration: try .trusting(certificates))
  }

  /// Runs `body` with both servers and stops them afterwards.
  static func running(
    isSecure: Bool = false, signedIn: Bool = true, options: RPCOptions = RPCOptions(),
    arguments: [String] = [], change: (inout ClientConfiguration) -> Void = { _ in },
    _ body: (CallFixture) async throws -> Void
  ) async throws {
    let sandbox = try await SandboxServer.start()
    let certificates = isSecure ? try await Certificates() : nil
    let userInfo = sandbox.issuer.appending(path: "api/me")
    try await GRPCServer.running(
      certificates: certificates, userInfo: userInfo, options: arguments
    ) { server in
      let fixture = try CallFixture(sandbox, server, certificates, options, change: change)
      if signedIn { try await fixture.signIn() }
      try await body(fixture)
    }
    await sandbox.stop()
  }

  /// Gives the account new tokens, as a sign-in would.
  ///
  /// `accessToken` replaces the issued access token.
  @discardableResult
  func signIn(accessToken: String? = nil) async throws -> SandboxTokens {
    let tokens = sandbox.issueTokens()
    try await module.environment.tokenStore.save(
      AccountRecord(
        id: module.accountID, clientID: "sandbox-app",
        token: SQToken(
          accessToken: accessToken ?? tokens.accessToken,
          expirationDate: Date(timeIntervalSinceNow: 3600), refreshToken: tokens.refreshToken)))
    try await module.restore()
    return tokens
  }

  /// The number of token refreshes.
  var refreshes: Int { sandbox.requests(to: .token).count }

  /// Returns a call that asks for the token's user and scope, as gRPC's auth sample does.
  func unaryCall() throws -> RPCCall {
    try channel.call(.unaryCall, TestRequest(fillUsername: true, fillOAuthScope: true))
  }
}

extension HTTPTransportConfiguration {
  /// Returns a configuration without a proxy that also trusts the authority of `certificates`.
  static func trusting(_ certificates: Certificates?) throws -> Self {
    var configuration = direct
    configuration.additionalAuthorities = try certificates?.data("ca.pem")
    return configuration
  }
}

extension RPCChannel {
  /// Creates a channel to a server, by default without a credential.
  convenience init(
    _ server: GRPCServer, credential: RPCCredential = .none, options: RPCOptions = RPCOptions()
  ) throws {
    try self.init(
      url: server.url, credential: credential, options: options, configuration: .direct)
  }
}
