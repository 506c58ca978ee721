import SQBasics
import SequencingOAuth
import SequencingOAuthDiscovery

// Sign-ins of a user of AT Protocol, whose handle or DID leads to the authorization server.
extension SignInArguments {
  /// The user in the options whose server must be found; `nil` if the options name the server.
  var wantedHandle: String? {
    guard case .known(.bluesky(let handle))? = server else { return nil }
    return handle
  }

  /// Fails if there is a client secret, because a client of AT Protocol has none.
  func checkForHandle() throws(Failure) {
    guard secret == nil else {
      throw .usage(
        "a client of --provider bluesky has no secret; leave it out, or name a key with --key")
    }
  }

  /// Returns these options with the server of the user and a client for the sign-in there.
  func findingServer(of handle: String, _ console: Console) async throws(Failure) -> SignInArguments
  {
    let user: ATProtocolUser
    let configuration: ClientConfiguration
    do throws(SQOAuthError) {
      user = try await ATProtocolUser.find(
        handle, environment: console.environment, timeout: answerLimit)
      let scope = scope ?? "atproto"
      configuration = try user.configuration(
        clientID: clientID ?? self.configuration?.clientID
          ?? ATProtocolUser.loopbackClientID(redirectURI: redirectURI.string, scope: scope),
        redirectURI: redirectURI.string, scope: scope)
    } catch {
      throw Failure(error)
    }
    let name = handle == user.did ? "" : "\(handle.onScreen) is "
    console.progress("\(name)\(user.did.onScreen), at \(user.server.onScreen).")
    return try signingIn(configuration, at: user.issuer, as: user.handle)
  }
}
