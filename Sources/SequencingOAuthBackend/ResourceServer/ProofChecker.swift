import SQBasics
import SQCrypto
import SQFoundation
import SequencingOAuth

/// The check of the proof that a bound token needs.
struct ProofChecker: Sendable {
  private let context: ClientContext
  /// The proofs that were used: the list of the app or its store, or one of this process.
  private let used: any OneTimeValues

  /// The list of this process, which all its checks share, however many there are.
  private static let ofProcess = MemoryOneTimeValues()

  init(_ context: ClientContext) {
    self.context = context
    used = context.environment.givenOneTimeValues ?? Self.ofProcess
  }

  /// Throws unless the request has the proof of the key to which its token is bound.
  ///
  /// The claims are those of the request's token.
  ///
  /// - SeeAlso: RFC 9449, sections 4.3 and 7.1
  func check(
    _ request: ProtectedRequest, _ claims: AccessTokenClaims
  ) async throws(SQOAuthError) {
    let token = try request.token()
    try claims.requireKnownBinding()
    try claims.requireCertificate(request.certificate)
    guard token.scheme == .dpop else { return try claims.requireNoKey() }
    let proof = try ReceivedProof(request.proofs)
    let now = context.environment.clock.now
    let tolerance = try context.configuration.get().clockTolerance
    try proof.check(request, token: token.text, at: now, tolerance: tolerance)
    guard let thumbprint = claims.proofKeyThumbprint, thumbprint == proof.thumbprint else {
      throw SQOAuthError(.accessTokenInvalid, "the access token is not bound to the proof's key")
    }
    // The last check, so that only the owner of a valid token can fill the memory.
    try await proof.checkNew(in: used, at: now, tolerance: tolerance)
  }
}

extension AccessTokenClaims {
  /// Throws if the token is bound to another certificate than the client's.
  ///
  /// - SeeAlso: RFC 8705, section 3.1
  func requireCertificate(_ certificate: Data?) throws(SQOAuthError) {
    guard let thumbprint = certificateThumbprint else { return }
    guard let certificate, Base64URL.encode(Digest.sha256(certificate)) == thumbprint else {
      throw SQOAuthError(
        .accessTokenInvalid, "the access token is bound to another certificate than the client's")
    }
  }

  /// Throws if the token is bound to a key or to a certificate.
  ///
  /// Without this check, a thief could use a stolen token as a Bearer token.
  ///
  /// - SeeAlso: RFC 9449, section 7.2; RFC 8705, section 3
  func requireUnbound() throws(SQOAuthError) {
    try requireKnownBinding()
    try requireNoKey()
    guard certificateThumbprint == nil else {
      throw SQOAuthError(
        .accessTokenInvalid,
        "the access token is bound to a certificate: check the whole request, as a ProtectedRequest"
      )
    }
  }

  /// Throws if the token is bound to a key.
  func requireNoKey() throws(SQOAuthError) {
    // Some servers name the type of a bound token, and not its key.
    let type = claims["token_type"]?.string?.asciiLowercased() ?? ""
    guard proofKeyThumbprint == nil, !["dpop", "pop", "mac"].contains(type) else {
      throw SQOAuthError(
        .accessTokenInvalid,
        "the access token is bound to a key, and the request has no proof (DPoP): check the whole "
          + "request, as a ProtectedRequest")
    }
  }

  /// Throws if the token is bound to something that the SDK does not know.
  ///
  /// - SeeAlso: RFC 7800, section 3.1
  func requireKnownBinding() throws(SQOAuthError) {
    let confirmation = claims["cnf"] ?? .null
    guard confirmation != .null else { return }
    guard let members = confirmation.object, !members.isEmpty,
      members.allSatisfy({ name, value in
        ["jkt", "x5t#S256"].contains(name) && value.string?.isEmpty == false
      })
    else {
      throw SQOAuthError(
        .accessTokenInvalid,
        "the access token is bound to something that this service cannot check (\"cnf\")")
    }
  }
}
