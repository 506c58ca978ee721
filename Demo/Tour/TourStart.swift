import SequencingOAuth

/// The first screen of the tour: the main screen with a stored token, or the login screen.
struct TourStart: Sendable {
  var token: SQToken?
  /// The reason why a stored token cannot be used, for the login screen.
  var notice: Coordinator.Notice?

  /// The login screen without a notice.
  static let login = TourStart()

  /// Returns the main screen if the stored token can be used, and refreshes an expired token first.
  ///
  /// If the refresh fails but the session continues, the main screen tries again.
  static func resuming(_ oauth: SQOAuth, _ console: Console) async -> TourStart {
    // From the first screen on, the SDK refreshes each token automatically, even after a sign-in.
    defer { oauth.refreshesAutomatically = true }
    guard oauth.result.token != nil else { return .login }
    if oauth.validToken == nil { console.progress("The token has expired; refreshing it.") }
    do throws(SQOAuthError) {
      return TourStart(token: try await oauth.token())
    } catch {
      guard !error.requiresSignIn, let token = oauth.result.token else {
        return TourStart(notice: .ended(code: error.code.rawValue, message: Failure(error).advised))
      }
      return TourStart(token: token)
    }
  }
}
