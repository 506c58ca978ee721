import SQBasics

/// A running sign-in, with its result for all callers that wait for it.
final class SignIn: Sendable {
  typealias Outcome = Result<SQToken, SQOAuthError>
  /// The token of a sign-in, and who owned it when the session got it; the owner is `nil` if the
  /// session did not keep the token.
  typealias Gain = (token: SQToken, owner: RequestOwner?)

  /// The place where the user interacts with the authorization server.
  enum Place: Sendable {
    /// A browser; it returns to the app by a redirect.
    case browser
    /// Another device; the user enters a code there.
    case otherDevice
  }

  /// A caller's request for a sign-in; it joins a running sign-in that fits, or starts a new one.
  struct Request: Sendable {
    /// The requested place; `nil` accepts any place, and a new sign-in then uses the browser.
    var place: Place?
    /// The requested options; `nil` accepts any options.
    var options: SignInOptions?
    /// The number of times the app had ended the session when the caller began; `nil` if a new
    /// sign-in may begin in any case.
    ///
    /// If the app has ended the session since then, a new sign-in fails before it shows a page.
    var appEndCount: Int?

    var isSilent: Bool { options?.isSilent == true }
  }

  let place: Place
  let options: SignInOptions
  /// The count of the request that started the sign-in, ``Request/appEndCount``.
  let appEndCount: Int?
  let work = SharedWork<SQToken, SQOAuthError>()
  /// The user's code for the other device; `nil` if the sign-in ended before the code was known.
  let authorization = OneShot<DeviceAuthorization?>()
  private let state = Locked(State())

  private struct State {
    var pending: PendingAuthorization?
    var owner: RequestOwner?
    /// Whether a caller shows the code on its own screen.
    var hasScreen = false
    /// The reason why the SDK itself cancelled the sign-in.
    var failure: SQOAuthError?
  }

  /// The description of the sign-in for an observer.
  var way: ClientEvent.SignInWay {
    place == .browser ? .browser(isSilent: options.isSilent) : .otherDevice
  }

  init(_ request: Request) {
    place = request.place ?? .browser
    options = request.options ?? SignInOptions()
    appEndCount = request.appEndCount
  }

  /// Returns whether a caller with this request can join the sign-in.
  func fits(_ request: Request) -> Bool {
    request.place.map { $0 == place } ?? true && request.options.map { $0 == options } ?? true
  }

  /// Records that the sign-in now waits for a redirect.
  func isWaiting(_ pending: PendingAuthorization) {
    state.withLock { $0.pending = pending }
  }

  /// The wait for the redirect; `nil` before it begins.
  var pending: PendingAuthorization? { state.withLock(\.pending) }

  /// Offers a redirect; returns `nil` if the sign-in is not waiting for one yet.
  func offer(_ redirect: String) -> PendingAuthorization.OfferResult? {
    pending?.offer(redirect)
  }

  /// Records that the session has kept the token, and for whom.
  func isKept(of owner: RequestOwner?) {
    state.withLock { $0.owner = owner }
  }

  /// The token's owner when the session got the token; `nil` if the session did not keep it.
  var owner: RequestOwner? { state.withLock(\.owner) }

  /// Cancels the sign-in as soon as possible; does nothing if the token has already arrived.
  func cancel() {
    work.cancel()
  }

  // MARK: On another device

  /// Records that a caller, and not the delegate, shows the code to the user.
  func addScreen() {
    state.withLock { $0.hasScreen = true }
  }

  /// Records that no delegate shows the code; returns whether a caller shows it.
  func delegateHasNoScreen() -> Bool {
    state.withLock { state in
      if !state.hasScreen { state.failure = .noScreenForCode }
      return state.hasScreen
    }
  }

  /// The error of a sign-in whose task was cancelled.
  var cancellation: SQOAuthError { state.withLock(\.failure) ?? .signInCancelled }
}

extension SignIn {
  /// The failure of a sign-in that has ended, for callers that were already waiting for a token.
  struct Failure {
    /// The failure of a sign-in that the app cancelled.
    static let cancelled = Self(error: .signInCancelled, options: nil)

    let error: SQOAuthError
    /// The options of a sign-in that was for one user only; `nil` if any user could sign in.
    private let options: SignInOptions?

    private init(error: SQOAuthError, options: SignInOptions?) {
      self.error = error
      self.options = options
    }

    /// Describes the outcome of a sign-in; `nil` if it succeeded.
    init?(_ outcome: Outcome, of signIn: SignIn) {
      guard let error = outcome.error else { return nil }
      self.init(
        error: error, options: signIn.options.requiresSameUser ? signIn.options : nil)
    }

    /// Returns whether the error is also the answer to a request that waited.
    ///
    /// After the failure of a sign-in for one user, another user can still sign in. But a user who
    /// has just refused does not want to be asked again.
    func answers(_ request: Request) -> Bool {
      options == nil || options == request.options || error.isCancellation
    }
  }
}

extension SQOAuthError {
  fileprivate static let noScreenForCode = SQOAuthError(
    .invalidConfiguration,
    "no authorizationDelegate shows the code for another device: set one that implements "
      + "userMustEnterCode(_:) and keep it, since the SDK holds it weakly, or call "
      + "signInWithDeviceCode(show:)")
}
