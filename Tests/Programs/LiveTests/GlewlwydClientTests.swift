import ProgramSupport
import SequencingOAuth
import TestSupport
import Testing

/// A client whose secret must be encoded for Basic authentication, at a server that does not decode
/// it.
@Suite(.timeLimit(.minutes(2)), .requires(.glewlwyd)) struct GlewlwydClientTests {
  private func token(
    by method: ClientAuthentication?, at server: Glewlwyd
  ) async throws(SQOAuthError) -> SQToken {
    let module = AuthorizationModule(
      configuration: try ClientConfiguration(
        clientID: Glewlwyd.Client.awkward.rawValue, clientSecret: Glewlwyd.Client.awkward.secret,
        provider: .issuer(server.issuer), clientAuthentication: method))
    return try await module.requestAccessTokenAsClient(scope: "read")
  }

  @Test
  func
    `a secret in the body or in unescaped Basic works, and the error of encoded Basic suggests both`()
    async throws
  {
    try await Glewlwyd.running { server in
      // For `nil`, the methods in the server's metadata lead to a secret in the request body.
      for method in [nil, ClientAuthentication.post, .basicUnescaped] {
        let token = try await token(by: method, at: server)
        #expect(try await server.introspect(token.accessToken).active)
      }
      do throws(SQOAuthError) {
        _ = try await token(by: .basic, at: server)
        Issue.record("glewlwyd accepted percent-encoded Basic credentials")
      } catch {
        #expect(error.code == .requestRefused && error.status == 403)
        #expect(error.message.contains(".post") && error.message.contains(".basicUnescaped"))
      }
    }
  }
}
