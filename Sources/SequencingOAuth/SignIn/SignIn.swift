import SQBasics

/// A sign-in that is under way, with its result for all callers that wait for it.
final class SignIn: Sendable {
  typealias Outcome = Result<SQToken, SQOAuthError>

  /// Where the user deals with the authorization server.
  enum Place: Sendable {
    /// In a browser, which comes back to the app by a redirect.
    case browser
    /// On another device, where the user enters a code.
    case otherDevice
  }

  /// What a caller asks for; a sign-in under way that fits is joined.
  struct Wish: Sendable {
    /// `nil` if any place will do; a new sign-in is then in the browser.
    var place: Place?
    /// `nil` if any options will do.
    var options: SignInOptions?

    var isSilent: Bool { options?.isSilent == true }
  }

  let place: Place
  let options: SignInOptions
  let work = SharedWork<SQToken, SQOAuthError>()
  /// What the user of another device must see; `nil` if the sign-in ended before it was known.
  let authorization = OneShot<DeviceAuthorization?>()
  private let state = Locked(State())

  private struct State {
    var pending: PendingAuthorization?
    /// Whether a caller has a screen of its own for the code.
    var hasScreen = false
    /// The reason why the SDK itself cancelled the sign-in.
    var failure: SQOAuthError?
  }

  init(_ wish: Wish) {
    place = wish.place ?? .browser
    options = wish.options ?? SignInOptions()
  }

  /// Whether a caller with this wish can join the sign-in.
  func fits(_ wish: Wish) -> Bool {
    wish.place.map { $0 == place } ?? true && wish.options.map { $0 == options } ?? true
  }

  /// Notes that the sign-in now waits for a redirect.
  func isWaiting(_ pending: PendingAuthorization) {
    state.withLock { $0.pending = pending }
  }

  /// The wait for the redirect; `nil` until it has begun.
  var pending: PendingAuthorization? { state.withLock(\.pending) }

  /// Offers a redirect; returns `nil` if the sign-in does not wait for one yet.
  func offer(_ redirect: String) -> PendingAuthorization.OfferResult? {
    pending?.offer(redirect)
  }

  /// Cancels the sign-in as soon as possible; does nothing once the token has arrived.
  func cancel() {
    work.cancel()
  }

  // MARK: On another device

  /// Notes that a caller shows the code itself.
  func addScreen() {
    state.withLock { $0.hasScreen = true }
  }

  /// Ends the sign-in if no caller shows the code either, so that it does not wait in vain.
  func delegateHasNoScreen() {
    let isSeen = state.withLock { state in
      if !state.hasScreen { state.failure = .noScreenForCode }
      return state.hasScreen
    }
    if !isSeen { cancel() }
  }

  /// The error of a sign-in whose task was cancelled.
  var cancellation: SQOAuthError { state.withLock(\.failure) ?? .signInCancelled }
}

extension SQOAuthError {
  fileprivate static let noScreenForCode = SQOAuthError(
    .invalidConfiguration,
    "the authorizationDelegate does not show the code for another device: implement "
      + "userMustEnterCode(_:), or call signInWithDeviceCode(show:)")
}
