public import SQBasics
import SQFoundation

/// The header fields that authorize one attempt to send one request, for programs that send it with
/// their own client.
///
/// An adapter for another HTTP library gets one from
/// ``AccountOperations/authorization(for:method:)``, puts ``fields`` on the request and sends it.
/// It then passes the response's status and header fields to ``renewed(afterStatus:fields:)``. As
/// long as that method returns a new authorization, the adapter sends the request again with it.
/// ``AccountOperations/send(_:)`` does all of this for requests that the SDK sends.
public struct RequestAuthorization: Sendable {
  /// The fields that carry the token; they replace the request's fields with the same names.
  ///
  /// They are for one attempt: a proof in the field `DPoP` must not be sent twice.
  public let fields: HeaderFields

  private let use: AddressedToken
  private let request: ResourceRequest
  private let proof: (maker: Prover, value: Prover.Proof)?
  /// The repeats of the request with this token.
  private let repeats: ProofRepeats
  /// The number of the attempt, starting at 1.
  private let attempt: Int
  /// Whether this attempt needs a new connection.
  ///
  /// It does if the server refused the previous attempt's proof, because the transport may have
  /// sent that attempt twice.
  let needsNewConnection: Bool

  /// Creates the fields for an attempt to send a request with a token.
  init(
    _ use: AddressedToken, for request: ResourceRequest, repeats: ProofRepeats = ProofRepeats(),
    attempt: Int = 1, needsNewConnection: Bool = false
  ) async throws(SQOAuthError) {
    self.use = use
    self.request = request
    self.repeats = repeats
    self.attempt = attempt
    self.needsNewConnection = needsNewConnection
    try use.token.checkHasKey()
    var fields = try await use.authenticatorFields(on: request)
    if let prover = try use.prover() {
      let value = try await prover.proof(
        of: request.method, request.url, to: .resource, token: use.token.accessToken)
      fields[DPoPProof.field] = value.text
      proof = (prover, value)
    } else {
      proof = nil
    }
    self.fields = fields
  }

  var environment: ClientEnvironment { use.module.environment }
  var method: String { request.method }
  var url: URL { request.url }

  /// The description of the request for an observer.
  var observed: ObservedRequest {
    ObservedRequest(
      purpose: use.purpose, attempt: attempt, token: use.token, accountID: use.module.accountID)
  }

  /// What to do after a response.
  package enum Verdict: Sendable {
    /// The token was not refused.
    case accepted
    /// The request may succeed if it is sent once more.
    case again(RequestAuthorization)
    /// The server refused the token or its scope, and no other token can help.
    case refused(SQOAuthError)
  }

  /// Remembers the nonce in a response, if it has one.
  ///
  /// After a status below 400, nothing else is necessary. After any other status, call
  /// ``verdict(afterStatus:fields:)`` instead.
  package func learn(_ fields: @autoclosure () -> HeaderFields) {
    if let proof { proof.maker.learn(fields(), to: proof.value) }
  }

  /// Decides what to do after a response, and gets another token or proof if that can help.
  ///
  /// A request is sent with two tokens at most, and with a third one if the second was refreshed
  /// while the request was on its way. With each token, it is repeated with a new proof or new
  /// fields as often as ``ProofRepeats`` allows.
  package func verdict(
    afterStatus status: Int, fields: HeaderFields
  ) async throws(SQOAuthError) -> Verdict {
    learn(fields)
    let refusal = resourceRefusal(status, fields)
    var repeats = repeats
    if repeats.isAllowed(forNonce: refusal?.error.code == .useDPoPNonce),
      await isWorthRepeating(after: refusal, status, fields)
    {
      return .again(
        try await RequestAuthorization(
          use, for: request, repeats: repeats, attempt: attempt + 1,
          needsNewConnection: refusal?.error.code == .invalidDPoPProof))
    }
    guard let refusal else { return .accepted }
    guard refusal.remedy == .token else { return .refused(refusal.error) }
    guard use.isReplaceable else {
      use.wasRefused(refusal.error)
      return .refused(refusal.error)
    }
    guard let next = try await use.replaced() else { return .refused(refusal.error) }
    return .again(
      try await RequestAuthorization(next, for: request, attempt: attempt + 1))
  }

  private func isWorthRepeating(
    after refusal: ResourceRefusal?, _ status: Int, _ fields: HeaderFields
  ) async -> Bool {
    if let refusal, refusal.remedy == .proof, let proof,
      proof.maker.canImprove(
        proof.value, after: refusal.error.code, fields,
        mayHaveBeenRepeated: WebRequest.isIdempotent(request.method))
    {
      return true
    }
    guard (400..<500).contains(status) else { return false }
    return await use.module.requestAuthenticator.repeats(
      request, with: use.token, afterStatus: status, fields: fields)
  }
}

// Methods for adapters of other HTTP libraries.
extension RequestAuthorization {
  /// Returns the authorization for another attempt, or `nil` if none can help.
  ///
  /// It is `nil` unless the response refuses the token or its proof (status 401, without an error
  /// code that names a different reason), or the app's authenticator asks for a repeat. If several
  /// requests were refused with the same token, the token is refreshed only once. If a server
  /// refuses the fresh token too, it gets no third token, unless that token was refreshed
  /// meanwhile, and its later refusals cause no refresh for a while. Call this method after each
  /// response, because any response may have a nonce for the next proof. Do not call it for a
  /// request whose content cannot be sent again.
  ///
  /// - Throws: ``SQOAuthError``: the errors of ``AccountOperations/token()``;
  ///   ``SQOAuthError/Code/originNotAllowed`` if the app has registered another client meanwhile,
  ///   whose token the server must not get; or the reason why new fields could not be created.
  /// - SeeAlso: RFC 6750, section 3.1; RFC 9449, section 9
  public func renewed(
    afterStatus status: Int, fields: HeaderFields
  ) async throws(SQOAuthError) -> RequestAuthorization? {
    switch try await verdict(afterStatus: status, fields: fields) {
    case .again(let next): next
    case .accepted, .refused: nil
    }
  }

  /// Returns the error of a response that refuses the token, its proof or its scope; otherwise
  /// `nil`.
  ///
  /// Throw it to the app if ``renewed(afterStatus:fields:)`` returned `nil`. Its code is the
  /// server's, such as ``SQOAuthError/Code/insufficientScope``, and
  /// ``SQOAuthError/challenge`` has the server's challenge, in which the token never appears.
  public func refusal(status: Int, fields: HeaderFields) -> SQOAuthError? {
    resourceRefusal(status, fields)?.error
  }

  /// Returns the challenge of a response that does not refuse the token, without this attempt's
  /// secrets; `nil` if there is none.
  package func challenge(in fields: HeaderFields) -> TokenChallenge? {
    fields.tokenChallenges.mostInformative?
      .removing(SentSecrets([use.token.accessToken, proof?.value.text ?? ""]))
  }

  private func resourceRefusal(_ status: Int, _ fields: HeaderFields) -> ResourceRefusal? {
    var refusal = ResourceRefusal(
      status: status, fields: fields, of: use.token, proof: proof?.value.text, for: request,
      at: use.module.session.now)
    refusal?.error.owner = use.owner ?? use.asker
    guard refusal?.error.code == .useDPoPNonce, repeats.areUsedUpByNonces else { return refusal }
    return refusal?.explained(by: ProofRepeats.usedUp)
  }
}

extension RequestAuthorization: Redacted {
  /// The server that may get the token, without the token.
  public var description: String { "authorization for \(use.origin)" }
}
