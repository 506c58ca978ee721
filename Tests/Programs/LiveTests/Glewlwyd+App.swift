import Foundation
import ProgramSupport
import SQBasics
import SequencingOAuth
import TestSupport

extension Glewlwyd {
  /// Creates an app with the public client.
  ///
  /// Alice is the user who signs in and out.
  func app(
    keptIn store: MemoryTokenStore = MemoryTokenStore(), signedBy algorithm: JWSAlgorithm = .rs256,
    userInfoSignedBy userInfoAlgorithm: JWSAlgorithm? = nil
  ) throws -> SQOAuth {
    let scope = ["openid", "profile", "email"]
    let oauth = SQOAuth()
    oauth.refreshesAutomatically = false
    oauth.environment.tokenStore = store
    oauth.environment.userAgent = CustomUserAgent { url in
      if url.lastPathComponent == "end_session" {
        try await self.confirmLogout(url, as: .alice)
      } else {
        try await self.visit(url, as: .alice, granting: scope, to: .public)
      }
    }
    var configuration = try ClientConfiguration(
      clientID: Client.public.rawValue, redirectURI: try takeRedirectURI(),
      scope: scope.joined(separator: " "),
      provider: .issuer(issuer))
    configuration.idTokenAlgorithm = algorithm
    configuration.userInfoAlgorithm = userInfoAlgorithm
    configuration.postLogoutRedirectURI = try RedirectURI(try takeLogoutURI())
    oauth.register(configuration)
    return oauth
  }
}
