import SequencingOAuth

/// Where the tour begins: on the main screen with a stored token, or on the login screen.
struct TourStart: Sendable {
  var token: SQToken?
  /// Why a stored token is of no use, for the login screen.
  var notice: Coordinator.Notice?

  /// The login screen, without a word.
  static let login = TourStart()

  /// The main screen when a stored token is good; one that has expired is refreshed first.
  ///
  /// A refresh that fails for another reason than the session's end is tried again on the main screen.
  static func resuming(_ oauth: SQOAuth, _ console: Console) async -> TourStart {
    guard oauth.result.token != nil else { return .login }
    if oauth.validToken == nil { console.progress("The token has expired; refreshing it.") }
    do throws(SQOAuthError) {
      let token = try await oauth.token()
      return begin(oauth, with: token)
    } catch {
      guard !error.requiresSignIn, let token = oauth.result.token else {
        return TourStart(notice: .ended(code: error.code.rawValue, message: error.message))
      }
      return begin(oauth, with: token)
    }
  }

  private static func begin(_ oauth: SQOAuth, with token: SQToken) -> TourStart {
    // As after a sign-in, the token is kept fresh without being asked for.
    oauth.module.refreshesAutomatically = true
    return TourStart(token: token)
  }
}
