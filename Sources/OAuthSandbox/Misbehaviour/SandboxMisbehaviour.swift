/// A way in which the sandbox answers wrongly, when it is told to.
///
/// Give it to ``SandboxServer/misbehave(at:_:times:)``. Those that change an answer let the request
/// do its work first: the code is redeemed, the refresh token rotated. Those that replace it do
/// not, unless they say so.
public struct SandboxMisbehaviour: Sendable {
  /// At which point the connection ends.
  public enum Cut: Sendable, Hashable {
    /// The request is read and has no effect.
    case beforeProcessing
    /// The request did its work, tokens were issued, and nothing of the answer is sent.
    case afterProcessing
    /// The request did its work, and half of the answer's body is sent.
    case duringAnswer
  }

  /// What follows the last byte that is sent.
  enum End: Sendable {
    case close
    case reset
    case silence
  }

  /// How a parameter of the redirect is spoilt.
  public enum Alteration: Sendable, Hashable {
    /// Another value of the same look.
    case wrong
    /// The parameter is left out.
    case missing
    /// The parameter has no value.
    case empty
    /// The right parameter comes twice.
    case doubled
    /// This value in place of the right one.
    case value(String)
  }

  enum Kind: Sendable {
    case answer(Answer, afterProcessing: Bool)
    indirect case delay(Duration, then: Kind?)
    indirect case hold(until: @Sendable () async -> Void, then: Kind?)
    case cut(Cut, reset: Bool)
    case truncated
    case oversize(Int)
    case endless
    case drip(Int, Duration)
    case part(Int, End)
    case field(String, String?)
    case ignoring(Set<String>)
    indirect case unread(then: Kind)
    case members([(name: String, value: SandboxJSON?)])
    case alter(String, Alteration)
    case errorRedirect([SandboxParameter])
    case addToRedirect([SandboxParameter])

    /// Whether it changes how the user is sent back to the app.
    var concernsRedirect: Bool {
      switch self {
      case .alter, .addToRedirect: true
      default: false
      }
    }

    /// Whether it sends the user back before any page was shown.
    var isErrorRedirect: Bool {
      if case .errorRedirect = self { return true }
      return false
    }
  }

  let kind: Kind
}

// MARK: At any endpoint

extension SandboxMisbehaviour {
  /// Any status with any fields and body, in place of the answer.
  public static func status(
    _ status: Int, headers: [String: String] = [:], body: String = "",
    afterProcessing: Bool = false
  ) -> Self {
    let fields = headers.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    return Self(
      kind: .answer(
        Answer(status: status, headers: fields, content: .text(body)),
        afterProcessing: afterProcessing))
  }

  /// 429 with `Retry-After` in seconds.
  public static func tooManyRequests(retryAfter seconds: Int) -> Self {
    .status(429, headers: ["Retry-After": String(seconds)])
  }

  /// 503 with `Retry-After` in seconds.
  public static func unavailable(retryAfter seconds: Int) -> Self {
    .status(503, headers: ["Retry-After": String(seconds)])
  }

  /// An OAuth error object (RFC 6749, section 5.2), with any status, 200 included.
  public static func error(
    _ code: String, description: String? = nil, status: Int = 400
  ) -> Self {
    Self(
      kind: .answer(
        Answer(status: status, json: .error(code, description)), afterProcessing: false))
  }

  /// A redirect with this status, as no back-channel endpoint may answer.
  public static func redirect(_ status: Int, to location: String) -> Self {
    .status(status, headers: ["Location": location])
  }

  /// An HTML page with status 200, such as a captive portal's.
  public static let html = status(
    200, headers: ["Content-Type": "text/html; charset=utf-8"],
    body: "<!doctype html><title>Welcome</title><p>Accept the terms to use this network.")

  /// Status 200 and `application/json` with a body that is none.
  public static let notJSON = status(
    200, headers: ["Content-Type": "application/json"], body: "This is not JSON.")

  /// The right answer, but its JSON breaks off in the middle, and its length says so.
  public static let truncatedJSON = Self(kind: .truncated)

  /// The right answer, or another misbehaviour, after a while of real time.
  public static func delay(_ duration: Duration, then other: SandboxMisbehaviour? = nil) -> Self {
    Self(kind: .delay(duration, then: other?.kind))
  }

  /// The right answer, or another misbehaviour, once a closure of the test's has returned.
  ///
  /// The request has no effect before that, and none at all when the client has left by then. When
  /// the sandbox stops, the closure's task is cancelled, and it must return.
  public static func hold(
    until isReleased: @escaping @Sendable () async -> Void, then other: SandboxMisbehaviour? = nil
  ) -> Self {
    Self(kind: .hold(until: isReleased, then: other?.kind))
  }

  /// The connection ends, in an orderly way or by a TCP reset.
  public static func cut(_ cut: Cut, reset: Bool = false) -> Self {
    Self(kind: .cut(cut, reset: reset))
  }

  /// The right JSON, behind which white space makes the body this large.
  public static func oversize(_ bytes: Int) -> Self { Self(kind: .oversize(bytes)) }

  /// The right JSON, behind which white space follows without end.
  public static let endless = Self(kind: .endless)

  /// The right answer, a few bytes at a time.
  public static func drip(_ bytes: Int = 1, every interval: Duration) -> Self {
    Self(kind: .drip(max(1, bytes), interval))
  }

  /// The right JSON object with a member set to a value, or taken out of it.
  public static func member(_ name: String, _ value: SandboxJSON?) -> Self {
    .members([(name, value)])
  }

  /// The right JSON object with several members set, or taken out of it.
  public static func members(_ members: [(name: String, value: SandboxJSON?)]) -> Self {
    Self(kind: .members(members))
  }
}

// MARK: At the token endpoint

extension SandboxMisbehaviour {
  /// A token response without `token_type`.
  public static let missingTokenType = member("token_type", nil)
  /// A token response without `refresh_token`.
  public static let noRefreshToken = member("refresh_token", nil)
  /// A token response whose `refresh_token` is empty.
  public static let emptyRefreshToken = member("refresh_token", "")
  /// A token response with any `expires_in`, such as `"3600"`, -1 or `.literal("1e999")`.
  public static func expiresIn(_ value: SandboxJSON?) -> Self { .member("expires_in", value) }
}

// MARK: At the protected API

extension SandboxMisbehaviour {
  /// A challenge (RFC 6750, section 3), however good the token is.
  ///
  /// The status is 401 for `invalid_token` and 403 for `insufficient_scope`, unless it is given.
  public static func bearerError(
    _ code: String, scope: String? = nil, status: Int? = nil
  ) -> Self {
    let status = status ?? (code == "insufficient_scope" ? 403 : 401)
    let answer = ProtectedAPI.challenge(status, code, "The sandbox was told so.", scope: scope)
    return Self(kind: .answer(answer, afterProcessing: false))
  }
}

// MARK: At the authorization endpoint

extension SandboxMisbehaviour {
  /// A spoilt `state` in the redirect.
  public static func state(_ alteration: Alteration) -> Self { .parameter("state", alteration) }
  /// A spoilt `iss` in the redirect (RFC 9207).
  public static func issuer(_ alteration: Alteration) -> Self { .parameter("iss", alteration) }
  /// A spoilt `code` in the redirect.
  public static func code(_ alteration: Alteration) -> Self { .parameter("code", alteration) }

  /// Any parameter of the redirect, spoilt.
  public static func parameter(_ name: String, _ alteration: Alteration) -> Self {
    Self(kind: .alter(name, alteration))
  }

  /// The user is sent back with an error at once, without a page.
  public static func errorRedirect(_ code: String, description: String? = nil) -> Self {
    let description = description.map { [SandboxParameter(name: "error_description", value: $0)] }
    return Self(
      kind: .errorRedirect([SandboxParameter(name: "error", value: code)] + (description ?? [])))
  }

  /// An access token in the redirect, as someone would inject it (RFC 9700, section 4.6).
  public static let tokenInRedirect = Self(
    kind: .addToRedirect([
      SandboxParameter(name: "access_token", value: "an-injected-token"),
      SandboxParameter(name: "token_type", value: "Bearer"),
    ]))
}
