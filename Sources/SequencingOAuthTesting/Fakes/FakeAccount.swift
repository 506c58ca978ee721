public import SQBasics
import SQFoundation
public import SequencingOAuth

/// An account for an app's tests; the test sets its answers and reads a record of the calls.
///
/// It sends no request and opens no browser:
///
/// ```swift
/// let account = FakeAccount()
/// account.answers { _ in WebResponse(status: 200, body: Data("[]".utf8)) }
/// try await show(ordersOf: account)
/// #expect(account.requests.map(\.url.path) == ["/orders"])
/// ```
///
/// Several tasks may use it at the same time, and share a refresh as they would share that of a real
/// account. Use it to test the code above an account, such as a
/// screen. To test what happens between an account and a server, use a server of the library
/// `OAuthSandbox`.
public final class FakeAccount: OAuthAccount {
  /// An operation of the account.
  public enum Operation: Sendable, Hashable, CaseIterable {
    /// A call of `signIn()`.
    case signIn
    /// A call of `requestAccess()`.
    case requestAccess
    /// A call of `token()`.
    case token
    /// A call of `send(_:)`.
    case send
    /// A call of `userInfo()`.
    case userInfo
    /// A call of `signOut()`.
    case signOut
  }

  /// A closure that answers a request in place of a server.
  public typealias Answer = @Sendable (WebRequest) async throws(SQOAuthError) -> WebResponse

  private struct State {
    var current: SQToken?
    var next: [SQToken] = []
    var user: UserInfo?
    var answer: Answer?
    var errors: [Operation: [SQOAuthError]] = [:]
    var calls: [Operation] = []
    var requests: [WebRequest] = []
    /// The number of tokens that have replaced another.
    ///
    /// It tells a refused token from a newer one, because tokens of a test may be equal.
    var replacements = 0
    /// The number of sign-ins and sign-outs; after one, the token may be another user's.
    var changesOfUser = 0

    /// Replaces the token with the next token, as a sign-in does, and returns it.
    mutating func signIn(at now: Date) -> SQToken {
      changesOfUser += 1
      return renew(at: now)
    }

    mutating func signOut() {
      changesOfUser += 1
      current = nil
    }

    /// Replaces the token with the next token, and returns it.
    mutating func renew(at now: Date) -> SQToken {
      let token = next.isEmpty ? SQToken.fake(issuedAt: now) : next.removeFirst()
      current = token
      replacements += 1
      return token
    }

    /// Returns the token if it is valid; if it has a refresh token, first replaces an expired token,
    /// and the token that was refused after a number of replacements.
    mutating func validToken(
      at now: Date, after refused: Int? = nil
    ) -> Result<SQToken, SQOAuthError> {
      guard let token = current else { return .failure(FakeAccount.notSignedIn) }
      guard token.isExpired(at: now) || refused == replacements else { return .success(token) }
      guard token.refreshToken != nil else { return .failure(FakeAccount.cannotRefresh) }
      return .success(renew(at: now))
    }
  }

  private let state: Locked<State>
  private let clock: any WallClock

  /// Creates an account with a token; `nil` creates an account that is signed out.
  ///
  /// `userInfo()` returns `user`, or throws if `user` is `nil`. The clock decides whether a token
  /// has expired.
  public init(
    token: SQToken? = .fake(), user: UserInfo? = nil, clock: any WallClock = SystemClock()
  ) {
    state = Locked(State(current: token, user: user))
    self.clock = clock
  }

  // MARK: What the account does

  /// Adds tokens for the next sign-ins and refreshes; each sign-in or refresh takes one token.
  ///
  /// If no token is left, a sign-in or a refresh gets
  /// ``SequencingOAuth/SQToken/fake(_:scope:refreshToken:idToken:issuedAt:lifetime:)``.
  public func brings(_ tokens: SQToken...) {
    state.withLock { $0.next += tokens }
  }

  /// Sets the closure that answers all requests from now on.
  ///
  /// Without it, `send(_:)` throws `SQOAuthError.Code.connectionFailed`.
  public func answers(_ answer: @escaping Answer) {
    state.change { $0.answer = answer }
  }

  /// Makes the next calls of an operation fail, each with the next of the errors.
  ///
  /// Failed calls are recorded, but the token does not change.
  public func fails(_ operation: Operation, _ errors: SQOAuthError...) {
    state.withLock { $0.errors[operation, default: []] += errors }
  }

  // MARK: What the app asked for

  /// The app's calls, in order.
  public var calls: [Operation] { state.withLock(\.calls) }

  /// The requests that the app sent, without the account's token.
  public var requests: [WebRequest] { state.withLock(\.requests) }

  /// The token of the account, or `nil` if it is signed out.
  public var currentToken: SQToken? { state.withLock(\.current) }

  // MARK: The operations

  /// Replaces the token with the next token, and returns it.
  @discardableResult
  public func signIn() async throws(SQOAuthError) -> SQToken {
    try begin(.signIn)
    let now = clock.now
    return state.withLock { $0.signIn(at: now) }
  }

  /// Returns the token if it is valid; otherwise replaces it with the next token.
  @discardableResult
  public func requestAccess() async throws(SQOAuthError) -> SQToken {
    try begin(.requestAccess)
    let now = clock.now
    return state.withLock { state in
      guard case .success(let token) = state.validToken(at: now) else {
        return state.signIn(at: now)
      }
      return token
    }
  }

  /// Returns the token; if it has expired and has a refresh token, first replaces it.
  public func token() async throws(SQOAuthError) -> SQToken {
    try begin(.token)
    return try use().token
  }

  /// Records the request, and returns the test's answer to it.
  ///
  /// As with any account, an answer that refuses the token, such as one with status 401, becomes an
  /// error, whose `resourceResponse` is that answer. If the token has a refresh token, the account first replaces the token, unless another
  /// caller has replaced it meanwhile, and asks for the answer once more. After a sign-in or a
  /// sign-out, the token may be another user's, so the error is thrown at once.
  public func send(_ request: WebRequest) async throws(SQOAuthError) -> WebResponse {
    state.withLock { $0.requests.append(request) }
    try begin(.send)
    _ = try ResourceOrigin(request.url)
    let use = try use()
    let response = try await response(to: request)
    guard let refusal = refusal(response, of: use.token, for: request) else { return response }
    guard refusal.remedy == .token, use.token.refreshToken != nil, let next = try token(after: use)
    else { throw ResourceFailure.refused(refusal.error, response).error }
    let second = try await self.response(to: request)
    if let refusal = self.refusal(second, of: next, for: request) {
      throw ResourceFailure.refused(refusal.error, second).error
    }
    return second
  }

  /// Returns the claims about the user that the initializer received; throws if it received none.
  public func userInfo() async throws(SQOAuthError) -> UserInfo {
    try begin(.userInfo)
    _ = try use()
    guard let user = state.withLock(\.user) else {
      throw SQOAuthError(
        .openIDUnsupported, "the fake account knows no claims: create it with FakeAccount(user:)")
    }
    return user
  }

  /// Removes the token.
  public func signOut() async throws(SQOAuthError) {
    try begin(.signOut)
    state.withLock { $0.signOut() }
  }

  // MARK: Helpers

  private func response(to request: WebRequest) async throws(SQOAuthError) -> WebResponse {
    guard let answer = state.withLock(\.answer) else {
      throw SQOAuthError(
        .connectionFailed,
        "the fake account has no answer to \(request); set one with answers(_:)")
    }
    return try await answer(request)
  }

  private func refusal(
    _ response: WebResponse, of token: SQToken, for request: WebRequest
  ) -> ResourceRefusal? {
    ResourceRefusal(
      status: response.status, fields: response.headers, of: token, for: ResourceRequest(request),
      at: clock.now)
  }

  private static let notSignedIn = SQOAuthError(
    .notAuthorized, "no user is signed in at the fake account")
  private static let cannotRefresh = SQOAuthError(
    .notAuthorized, "the fake account's token has expired and has no refresh token")

  /// Records a call, and throws the next error that the test has set for it.
  private func begin(_ operation: Operation) throws(SQOAuthError) {
    let error: SQOAuthError? = state.withLock { state in
      state.calls.append(operation)
      guard state.errors[operation]?.isEmpty == false else { return nil }
      return state.errors[operation]?.removeFirst()
    }
    if let error { throw error }
  }

  /// A token of the account, and the changes up to it.
  private struct Use {
    let token: SQToken
    let replacements: Int
    let changesOfUser: Int
  }

  /// Returns a valid token.
  private func use() throws(SQOAuthError) -> Use {
    // The clock may be the app's own, so it is not read under the lock.
    let now = clock.now
    return try state.withLock { state in
      state.validToken(at: now).map {
        Use(token: $0, replacements: state.replacements, changesOfUser: state.changesOfUser)
      }
    }.get()
  }

  /// Returns a valid token in place of a refused one; `nil` after a sign-in or a sign-out.
  private func token(after refused: Use) throws(SQOAuthError) -> SQToken? {
    let now = clock.now
    return try state.withLock { state -> Result<SQToken?, SQOAuthError> in
      guard state.changesOfUser == refused.changesOfUser else { return .success(nil) }
      return state.validToken(at: now, after: refused.replacements).map(\.self)
    }.get()
  }
}

extension FakeAccount: Redacted {
  /// The number of calls, without tokens and requests.
  public var description: String { "fake account after \(calls.count) calls" }
}
