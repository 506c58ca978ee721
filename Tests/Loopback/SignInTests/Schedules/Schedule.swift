import OAuthSandbox

@testable import TestSupport

/// A random sequence of steps for one test.
///
/// The same seed always makes the same steps.
struct Schedule: Sendable, CustomStringConvertible {
  let seed: UInt64
  /// Whether the server issues a new refresh token at each refresh.
  let rotates: Bool
  let lifetime: Int
  let steps: [Step]
  let ending: Ending

  enum Step: Sendable {
    /// Starts this many callers and does not wait for them.
    case call(Call, Int)
    /// Cancels this many of the running callers.
    case cancel(Int)
    /// Lets the app invalidate its access token.
    case invalidate
    /// Makes the token endpoint misbehave in one way for this many of the next requests.
    case trouble(Trouble, times: Int)
    /// Makes the API answer this many of the next requests with status 401 and no reason.
    case refusal(Int)
    /// Makes the next token request wait at the server, or lets all waiting requests continue.
    case stall, release
    /// Makes the server expire all access tokens.
    case expire
    /// Advances the clocks of the server and of its clients by this many seconds.
    case pass(Double)
    /// Moves only the clock of the clients, forwards or backwards.
    case jump(Double)
    case timer(Bool)
    case store(Store)
    case signIn(User)
    /// Begins a sign-in, and signs out without waiting for the sign-in.
    case signInAndOut(User)
    case signOut
    /// Waits until nothing runs any more, and checks the rules.
    case flush
    case yield(Int)
    /// Ends the program, starts it again, and perhaps passes it a token that the app has kept.
    case launch(Kept)
    /// Lets another process that shares the store do something.
    case elsewhere(Elsewhere)
  }

  enum Call: CaseIterable { case token, completion, refresh, send, authenticate, requestAccess }

  enum User: CaseIterable { case alice, bob }

  enum Store: CaseIterable { case works, cannotLoad, cannotSave, cannotErase, fails }

  enum Kept: CaseIterable { case nothing, newest, outdated }

  enum Elsewhere: CaseIterable {
    case refresh, signIn, signOut
    /// Another process refreshes while the server holds this program's refresh request.
    ///
    /// Then the server rejects the held request.
    case race
  }

  enum Ending: CaseIterable { case refused, signedOut, revoked, working }

  var description: String {
    "seed \(seed), \(rotates ? "rotating" : "not rotating"), \(lifetime) s, then \(ending):\n"
      + steps.map { "- \(Self.plain("\($0)"))" }.joined(separator: "\n")
  }

  /// Returns a step's description without type names.
  static func plain(_ step: String) -> String {
    step.replacing(#/SignInTests\.(Schedule\.)?[A-Z][a-z]+\./#, with: "")
  }
}

/// What goes wrong at the token endpoint.
enum Trouble: CaseIterable {
  // The request has no effect.
  case serverError, badGateway, unavailable, tooMany, tooManyForAnHour, html, notJSON, redirect
  case emptyRefusal, invalidClient, cutBefore, resetBefore
  /// A permanent rejection although the token is valid.
  case invalidGrant
  // The server processes the request, but the answer is lost.
  case cutAfter, cutDuring, resetAfter, truncated, noTokenType, serverErrorAfter
  // The answer is unusual but valid.
  case slow, noLifetime, emptyLife, longLife, noScope
  /// The answer has no refresh token, or an empty one, as from a server that does not rotate.
  case noRefreshToken, emptyRefreshToken

  var misbehaviour: SandboxMisbehaviour {
    switch self {
    case .serverError: .status(500, body: "<h1>oops")
    case .badGateway: .status(502)
    case .unavailable: .status(503)
    case .tooMany: .tooManyRequests(retryAfter: 7)
    case .tooManyForAnHour: .tooManyRequests(retryAfter: 1_000_000)
    case .html: .html
    case .notJSON: .notJSON
    case .redirect: .redirect(307, to: "/token")
    case .emptyRefusal: .status(400)
    case .invalidClient: .error("invalid_client", status: 401)
    case .cutBefore: .cut(.beforeProcessing)
    case .resetBefore: .cut(.beforeProcessing, reset: true)
    case .invalidGrant: .error("invalid_grant")
    case .cutAfter: .cut(.afterProcessing)
    case .cutDuring: .cut(.duringAnswer)
    case .resetAfter: .cut(.afterProcessing, reset: true)
    case .truncated: .truncatedJSON
    case .noTokenType: .missingTokenType
    case .serverErrorAfter: .status(500, afterProcessing: true)
    case .slow: .delay(.milliseconds(3))
    case .noLifetime: .expiresIn(nil)
    case .emptyLife: .expiresIn(0)
    case .longLife: .expiresIn(.literal("1e300"))
    case .noScope: .member("scope", nil)
    case .noRefreshToken: .noRefreshToken
    case .emptyRefreshToken: .emptyRefreshToken
    }
  }

  /// Whether a server that rotates refresh tokens can answer like this.
  var isForServersThatRotate: Bool {
    switch self {
    case .noRefreshToken, .emptyRefreshToken: false
    default: true
    }
  }
}
