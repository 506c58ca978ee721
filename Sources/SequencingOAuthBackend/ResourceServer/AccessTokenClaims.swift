public import SQBasics
public import SQFoundation
public import SequencingOAuth

/// The claims of a valid access token, for a resource server.
///
/// Only the SDK creates this value: ``AccessTokenValidator`` from a signed token, and
/// ``TokenIntrospector`` from a response of the authorization server. For a service's tests, the
/// library `SequencingOAuthTesting` makes fakes.
///
/// - SeeAlso: RFC 9068, section 2.2; RFC 7662, section 2.2
public struct AccessTokenClaims: Sendable, Hashable {
  /// The issuer of the token (`iss`); `nil` if an introspection response does not name it.
  public let issuer: String?
  /// The user that the token was issued for, or a client that acts on its own behalf (`sub`).
  public let subject: String?
  /// The services that may accept the token (`aud`); empty if an introspection response names none.
  public let audience: [String]
  /// The client that the token was issued to (`client_id`).
  public let clientID: String?
  /// The scopes of the token, in the server's order; empty if they cannot be read.
  ///
  /// They come from `scope`. If the token has no `scope`, they come from `scp`, the claim of Okta
  /// and Microsoft Entra. Each of the two may be a text with spaces or a list of texts.
  public let scopes: [String]
  /// The moment when the token stops being valid (`exp`); `nil` if the server does not name it.
  public let expirationDate: Date?
  /// The moment when the token was issued (`iat`).
  public let issueDate: Date?
  /// The identifier of the token (`jti`).
  public let identifier: String?
  /// A human-readable name of the user (`username`); only introspection responses contain it.
  public let username: String?
  /// The thumbprint of the key to which the token is bound (`cnf.jkt`); `nil` for a Bearer token.
  ///
  /// - SeeAlso: RFC 9449, section 6
  public let proofKeyThumbprint: String?
  /// The thumbprint of the certificate to which the token is bound (`cnf.x5t#S256`); `nil` for
  /// none.
  ///
  /// - SeeAlso: RFC 8705, section 3.1
  public let certificateThumbprint: String?
  /// All claims, including those that are also properties of this type.
  public let claims: [String: JSONValue]
  /// When the user logged in (`auth_time`); `nil` if the claim is missing or cannot be read.
  let loginDate: Date?
  /// The allowed difference between the clocks of this service and of the server.
  private let clockTolerance: Duration
  /// The clock by which the service checked the token.
  private var ownClock = OwnClock()

  /// A service's clock; claims are equal whatever clock they were checked by.
  private struct OwnClock: Sendable, Hashable {
    var clock: any WallClock = SystemClock()

    static func == (_: Self, _: Self) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
  }

  /// Throws if the token is not for this service.
  ///
  /// Names are compared by their code points. An app's own `audience.contains(…)` would also accept
  /// a different Unicode normalization of the name.
  ///
  /// - Throws: `SQOAuthError.Code.accessTokenInvalid`; answer the request with status 401 then.
  /// - SeeAlso: RFC 7519, sections 4.1.3 and 7.3
  public func require(audience needed: String) throws(SQOAuthError) {
    guard audience.contains(needed) else {
      throw SQOAuthError(
        .accessTokenInvalid,
        "the access token does not name this service as its audience (\"aud\")")
    }
  }

  /// Throws unless the token is bound to a key or to a certificate.
  ///
  /// A thief cannot use such a token without the private key. Call this method after the check of a
  /// ``ProtectedRequest``, if your service accepts no Bearer tokens.
  ///
  /// - Throws: `SQOAuthError.Code.accessTokenInvalid`; answer the request with status 401 then.
  public func requireBound() throws(SQOAuthError) {
    guard proofKeyThumbprint != nil || certificateThumbprint != nil else {
      throw SQOAuthError(
        .accessTokenInvalid, "the access token is bound neither to a key nor to a certificate")
    }
  }

  /// Throws unless the token has all of the scopes.
  ///
  /// Scopes are compared by their code points.
  ///
  /// - Throws: `SQOAuthError.Code.insufficientScope`; answer the request with status 403 then.
  /// - SeeAlso: RFC 6750, section 3.1
  public func require(scopes needed: String...) throws(SQOAuthError) {
    try require(scopes: needed)
  }

  /// Throws unless the token has all scopes in a list.
  ///
  /// - Throws: `SQOAuthError.Code.insufficientScope`.
  public func require(scopes needed: [String]) throws(SQOAuthError) {
    let missing = needed.filter { !scopes.contains($0) }
    guard missing.isEmpty else {
      throw SQOAuthError(
        .insufficientScope,
        "the access token lacks scopes that the request needs: "
          + missing.joined(separator: " ").printable
      ).demanding(needed)
    }
  }

  /// Throws unless the user's login is as strong and as recent as the request requires.
  ///
  /// If `acrValues` is not empty, it must contain the token's authentication context (`acr`). If
  /// `maxAge` is given, the login (`auth_time`) must not be older, and it must not be in the future
  /// by more than the clock tolerance of the ``AccessTokenValidator`` or the ``TokenIntrospector``.
  /// Without `now`, the time is that of their `ClientEnvironment.clock`, by which they also checked
  /// the token. A token does not pass if a required claim is missing or cannot be read.
  ///
  /// - Throws: `SQOAuthError.Code.insufficientUserAuthentication`; answer with ``AccessRefusal``,
  ///   so that the client knows which login to ask for.
  /// - SeeAlso: RFC 9470, sections 3 and 6
  public func requireLogin(
    acrValues: [String] = [], maxAge: Duration? = nil, at now: Date? = nil
  ) throws(SQOAuthError) {
    let context = claims["acr"]?.string
    let isStrong = acrValues.isEmpty || context.map { acrValues.contains($0) } ?? false
    let isNew =
      maxAge.map { limit in
        guard let loginDate else { return false }
        let age = (now ?? ownClock.clock.now).timeIntervalSince(loginDate)
        return -clockTolerance.seconds <= age && age <= limit.seconds
      } ?? true
    guard isStrong, isNew else {
      throw SQOAuthError(
        .insufficientUserAuthentication,
        "the request needs a newer or a stronger login of the user"
      ).demandingLogin(acrValues: acrValues, maxAge: maxAge)
    }
  }

  /// Reads the claims of an access token of any form; no claim is required.
  init(
    _ reader: ClaimReader, clockTolerance: Duration = .seconds(60)
  ) throws(SQOAuthError) {
    claims = reader.claims
    self.clockTolerance = clockTolerance
    issuer = try reader.text("iss")
    subject = try reader.text("sub")
    audience = try reader.possibleAudience("aud") ?? []
    clientID = try reader.text("client_id")
    // Some servers send an empty text for a token without scopes. If `scope` is there, `scp` does
    // not count, because RFC 9068 and RFC 7662 define only `scope`.
    scopes = (claims.scope(ifMissing: claims["scp"]?.scope) ?? "").words
    loginDate = reader.ifReadable("auth_time", reader.date)
    expirationDate = try reader.date("exp")
    issueDate = try reader.date("iat")
    identifier = try reader.text("jti")
    username = claims["username"]?.string
    proofKeyThumbprint = claims["cnf"]?.object?["jkt"]?.string
    certificateThumbprint = claims["cnf"]?.object?["x5t#S256"]?.string
  }

  /// Returns the claims, which a service has checked by its clock.
  func checked(by clock: any WallClock) -> Self {
    var claims = self
    claims.ownClock.clock = clock
    return claims
  }

  /// Creates claims that no server has issued, for a service's tests.
  ///
  /// - Throws: `SQOAuthError.Code.accessTokenInvalid` if a claim cannot be read, as for a server's
  ///   token.
  package init(unverified claims: [String: JSONValue]) throws(SQOAuthError) {
    try self.init(
      ClaimReader(
        claims: claims, subject: "access token", missing: .accessTokenInvalid,
        malformed: .accessTokenInvalid))
  }
}

extension AccessTokenClaims: Redacted {
  /// The server and the client only, because a log must not name the user.
  public var description: String {
    "AccessTokenClaims(issued by \((issuer ?? "?").printable) to \((clientID ?? "?").printable))"
  }
}
