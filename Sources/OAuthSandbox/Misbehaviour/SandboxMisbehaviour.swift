/// A wrong answer that a test makes the sandbox give.
///
/// Pass it to ``SandboxServer/misbehave(at:_:times:)``. If a misbehaviour changes an answer, the
/// request takes effect first: the code is redeemed, the refresh token rotated. If a misbehaviour
/// replaces the answer, the request has no effect, unless the misbehaviour's documentation says
/// otherwise.
public struct SandboxMisbehaviour: Sendable {
  /// The point at which the connection ends.
  public enum Cut: Sendable, Hashable {
    /// The request is read and has no effect.
    case beforeProcessing
    /// The request takes effect, for example issues tokens, but no byte of the answer is sent.
    case afterProcessing
    /// The request takes effect, and half of the answer's body is sent.
    case duringAnswer
  }

  /// What happens to the connection after the last byte of an incomplete answer.
  enum End: Sendable {
    case close
    case reset
    case silence
  }

  /// A change of a parameter in a redirect to the app.
  public enum Alteration: Sendable, Hashable {
    /// The parameter has a wrong value of the same form.
    case wrong
    /// The parameter is missing.
    case missing
    /// The parameter has an empty value.
    case empty
    /// The right parameter occurs twice.
    case doubled
    /// The parameter has this value instead of the right one.
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
    case idToken(SandboxIDTokenFault)
    case jwt(SandboxIDTokenFault)
    case alteredJWT(@Sendable (inout SandboxJWT) -> Void)
    case alteredIDToken(@Sendable (inout SandboxJWT) -> Void)
    case keySet(SandboxKeySetFault)
    case userInfo(SandboxUserInfoFault)
    case dpop(SandboxDPoPFault)
    case signedResponse(SandboxSignedResponseFault)
    case endlessStepUp
    case details(@Sendable ([SandboxJSON]) -> [SandboxJSON])

    /// The place at which the misbehaviour takes effect.
    var place: Place {
      switch self {
      case .answer, .delay, .hold, .cut, .truncated, .oversize, .endless, .drip, .part, .field,
        .ignoring, .unread, .members, .endlessStepUp:
        .answer
      case .alter, .addToRedirect: .redirect
      case .errorRedirect: .errorRedirect
      case .idToken, .alteredIDToken: .idToken
      case .jwt, .alteredJWT: .jwt
      case .keySet: .keySet
      case .userInfo: .userInfo
      case .dpop: .proof
      case .signedResponse: .signedResponse
      case .details: .details
      }
    }
  }

  /// A place in the sandbox's work at which a misbehaviour takes effect.
  enum Place {
    /// A whole answer, which the misbehaviour changes or replaces.
    ///
    /// The argument `times` of ``SandboxServer/misbehave(at:_:times:)`` then counts requests.
    case answer
    /// The redirect back to the app.
    case redirect
    /// The beginning of a sign-in, before any page is shown.
    case errorRedirect
    case idToken
    /// Any other JWT, such as an introspection response.
    case jwt
    case keySet
    case userInfo
    case proof
    case details
    /// A signed authorization response.
    case signedResponse
  }

  let kind: Kind
}

// MARK: At any endpoint

extension SandboxMisbehaviour {
  /// An answer with any status from 200 on, header fields and a body, instead of the right answer.
  ///
  /// The server itself sets `Content-Length`, `Transfer-Encoding` and `Connection`.
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

  /// The status 429 (too many requests) with `Retry-After` in seconds.
  public static func tooManyRequests(retryAfter seconds: Int) -> Self {
    .status(429, headers: ["Retry-After": String(seconds)])
  }

  /// The status 503 (service unavailable) with `Retry-After` in seconds.
  public static func unavailable(retryAfter seconds: Int) -> Self {
    .status(503, headers: ["Retry-After": String(seconds)])
  }

  /// An OAuth error object (RFC 6749, section 5.2) with any status, even 200.
  public static func error(
    _ code: String, description: String? = nil, status: Int = 400
  ) -> Self {
    Self(
      kind: .answer(
        Answer(status: status, json: .error(code, description)), afterProcessing: false))
  }

  /// A redirect, which is wrong at every endpoint that apps call directly.
  public static func redirect(_ status: Int, to location: String) -> Self {
    .status(status, headers: ["Location": location])
  }

  /// An HTML page with status 200, like that of a captive portal.
  public static let html = status(
    200, headers: ["Content-Type": "text/html; charset=utf-8"],
    body: "<!doctype html><title>Welcome</title><p>Accept the terms to use this network.")

  /// The status 200 and `application/json` with a body that is not JSON.
  public static let notJSON = status(
    200, headers: ["Content-Type": "application/json"], body: "This is not JSON.")

  /// The right answer with only the first half of its JSON and with the `Content-Length` of that
  /// half.
  public static let truncatedJSON = Self(kind: .truncated)

  /// The right answer, or another misbehaviour, after `duration` in real time.
  ///
  /// If `other` alters a redirect or a token, it alters the next redirect or token that the sandbox
  /// sends after that time.
  public static func delay(_ duration: Duration, then other: SandboxMisbehaviour? = nil) -> Self {
    Self(kind: .delay(duration, then: other?.kind))
  }

  /// The right answer, or another misbehaviour, after a closure of the test returns.
  ///
  /// The request takes effect only after the closure has returned, and never if the client
  /// disconnects before that. When the sandbox stops, it cancels the closure's task, and the
  /// closure must then return. If `other` alters a redirect or a token, it alters the next redirect
  /// or token that the sandbox sends after the closure's return.
  public static func hold(
    until isReleased: @escaping @Sendable () async -> Void, then other: SandboxMisbehaviour? = nil
  ) -> Self {
    Self(kind: .hold(until: isReleased, then: other?.kind))
  }

  /// The end of the connection: an orderly close or a TCP reset.
  public static func cut(_ cut: Cut, reset: Bool = false) -> Self {
    Self(kind: .cut(cut, reset: reset))
  }

  /// The right JSON, followed by white space up to a total of `bytes` bytes.
  public static func oversize(_ bytes: Int) -> Self { Self(kind: .oversize(bytes)) }

  /// The right JSON, followed by white space without end.
  public static let endless = Self(kind: .endless)

  /// The right answer, sent a few bytes at a time.
  public static func drip(_ bytes: Int = 1, every interval: Duration) -> Self {
    Self(kind: .drip(max(1, bytes), interval))
  }

  /// The right JSON object with one member set or, if `value` is `nil`, removed.
  public static func member(_ name: String, _ value: SandboxJSON?) -> Self {
    .members([(name, value)])
  }

  /// The right JSON object with several members set or, if their value is `nil`, removed.
  public static func members(_ members: [(name: String, value: SandboxJSON?)]) -> Self {
    Self(kind: .members(members))
  }
}

// MARK: At the token endpoint

extension SandboxMisbehaviour {
  /// The right token response without `token_type`.
  public static let missingTokenType = member("token_type", nil)
  /// The right token response without `refresh_token`.
  public static let noRefreshToken = member("refresh_token", nil)
  /// The right token response with an empty `refresh_token`.
  public static let emptyRefreshToken = member("refresh_token", "")
  /// The right token response with any `expires_in`, such as `"3600"`, -1 or `.literal("1e999")`.
  public static func expiresIn(_ value: SandboxJSON?) -> Self { .member("expires_in", value) }
}

// MARK: At the protected API

extension SandboxMisbehaviour {
  /// An error with a Bearer challenge (RFC 6750, section 3), even if the token is valid.
  ///
  /// The default status is 403 for `insufficient_scope` and 401 for every other code.
  public static func bearerError(
    _ code: String, scope: String? = nil, status: Int? = nil
  ) -> Self {
    let status = status ?? (code == "insufficient_scope" ? 403 : 401)
    let refusal = TokenRefusal(
      status, code, "A test asked the sandbox for this error.", scope: scope)
    return Self(kind: .answer(refusal.answer, afterProcessing: false))
  }
}

// MARK: At the authorization endpoint

extension SandboxMisbehaviour {
  /// A redirect with an altered `state`.
  public static func state(_ alteration: Alteration) -> Self { .parameter("state", alteration) }
  /// A redirect with an altered `iss` (RFC 9207).
  public static func issuer(_ alteration: Alteration) -> Self { .parameter("iss", alteration) }
  /// A redirect with an altered `code`.
  public static func code(_ alteration: Alteration) -> Self { .parameter("code", alteration) }

  /// A redirect with one altered parameter.
  public static func parameter(_ name: String, _ alteration: Alteration) -> Self {
    Self(kind: .alter(name, alteration))
  }

  /// An immediate redirect with an error, without a page.
  public static func errorRedirect(_ code: String, description: String? = nil) -> Self {
    let description = description.map { [SandboxParameter(name: "error_description", value: $0)] }
    return Self(
      kind: .errorRedirect([SandboxParameter(name: "error", value: code)] + (description ?? [])))
  }

  /// A redirect with an additional access token, like an attacker's injection (RFC 9700, section
  /// 4.6).
  public static let tokenInRedirect = Self(
    kind: .addToRedirect([
      SandboxParameter(name: "access_token", value: "an-injected-token"),
      SandboxParameter(name: "token_type", value: "Bearer"),
    ]))
}
