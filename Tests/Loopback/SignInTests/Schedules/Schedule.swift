import OAuthSandbox

@testable import TestSupport

/// What happens in one schedule, in order; a seed gives the same one at every run.
struct Schedule: Sendable, CustomStringConvertible {
  let seed: UInt64
  /// Whether the server gives a new refresh token at each refresh.
  let rotates: Bool
  let lifetime: Int
  let steps: [Step]
  let ending: Ending

  enum Step: Sendable {
    /// So many callers begin, and are left to themselves.
    case call(Call, Int)
    /// So many of those that are under way are cancelled.
    case cancel(Int)
    /// The app learns that the token is no good.
    case invalidate
    /// The next token requests, so many, are treated badly.
    case trouble(Trouble, times: Int)
    /// The API refuses the next requests, so many, for no reason.
    case refusal(Int)
    /// Token requests wait at the server, or no longer.
    case stall, release
    /// The server lets all access tokens expire.
    case expire
    /// Time passes.
    case pass(Double)
    /// The client's clock is moved, in either direction.
    case jump(Double)
    case timer(Bool)
    case store(Store)
    case signIn(User)
    /// A sign-in, and a sign-out that does not wait for it.
    case signInAndOut(User)
    case signOut
    /// Everything that is under way comes to its end.
    case settle
    case yield(Int)
    /// The program ends and starts again, with its stored accounts.
    case launch(Kept)
    /// Another process that shares the store does something.
    case elsewhere(Elsewhere)
  }

  enum Call: CaseIterable { case token, completion, refresh, send, authenticate, requestAccess }

  enum User: CaseIterable { case alice, bob }

  enum Store: CaseIterable { case works, cannotLoad, cannotSave, cannotErase, fails }

  enum Kept: CaseIterable { case nothing, newest, outdated }

  enum Elsewhere: CaseIterable {
    case refresh, signIn, signOut
    /// It refreshes while our own refresh is at the server, which refuses ours.
    case race
  }

  enum Ending: CaseIterable { case refused, signedOut, revoked, working }

  var description: String {
    "seed \(seed), \(rotates ? "rotating" : "not rotating"), \(lifetime) s, then \(ending):\n"
      + steps.map { "- \(Self.plain("\($0)"))" }.joined(separator: "\n")
  }

  /// A step without the names of its types.
  static func plain(_ step: String) -> String {
    step.replacing(#/SequencingOAuthTests\.(Schedule\.)?[A-Z][a-z]+\./#, with: "")
  }
}

/// What goes wrong at the token endpoint.
enum Trouble: CaseIterable {
  // The request has no effect.
  case serverError, badGateway, unavailable, tooMany, tooManyForAnHour, html, notJSON, redirect
  case emptyRefusal, invalidClient, cutBefore, resetBefore
  /// A refusal for good, though the token is in order.
  case invalidGrant
  // The request does its work, and the answer is lost.
  case cutAfter, cutDuring, resetAfter, truncated, noTokenType, serverErrorAfter
  // The answer is odd, and legal.
  case slow, noLifetime, emptyLife, longLife, noScope
  /// No refresh token, or an empty one, from a server that does not rotate them.
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

  /// A server that rotates refresh tokens and does not say so is none.
  var isForServersThatRotate: Bool {
    switch self {
    case .noRefreshToken, .emptyRefreshToken: false
    default: true
    }
  }
}
