import SQBasics
import SQCrypto
import SQFoundation
import SequencingOAuth

/// A checker of the DPoP proof that a token bound to a key needs.
struct ProofChecker: Sendable {
  private let context: ClientContext
  /// The list of used proofs, from the app or its store; otherwise the list of this process.
  private let used: any OneTimeValues

  /// The list of used proofs that all checkers of this process share.
  private static let ofProcess = MemoryOneTimeValues()

  init(_ context: ClientContext) {
    self.context = context
    used = context.environment.givenOneTimeValues ?? Self.ofProcess
  }

  /// Throws unless the request has the proof and the certificate that its token's binding requires.
  ///
  /// `claims` are the claims of the request's token.
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
    // This check is the last, so that only the owner of a valid token can add proofs to the list.
    try await proof.checkNew(in: used, at: now, tolerance: tolerance)
  }
}

extension AccessTokenClaims {
  /// Throws if the token is bound to a certificate that is not the client's.
  ///
  /// - SeeAlso: RFC 8705, section 3.1
  func requireCertificate(_ certificate: Data?) throws(SQOAuthError) {
    guard let thumbprint = certificateThumbprint else { return }
    guard let certificate, Base64URL.encode(Digest.sha256(certificate)) == thumbprint else {
      throw SQOAuthError(
        .accessTokenInvalid,
        "the access token is bound to a certificate that the client did not present")
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
    // Some servers report the type of a bound token but not its key.
    let type = claims["token_type"]?.string?.asciiLowercased() ?? ""
    guard proofKeyThumbprint == nil, !["dpop", "pop", "mac"].contains(type) else {
      throw SQOAuthError(
        .accessTokenInvalid,
        "the access token is bound to a key: the client must send it with the scheme DPoP and a "
          + "proof, and the service must check the whole request, as a ProtectedRequest")
    }
  }

  /// Throws if the token has a confirmation method (`cnf`) that the SDK does not support.
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
