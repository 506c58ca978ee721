import SQBasics
package import SQFoundation

// Requests with a proof of possession of the key to which an account's tokens are bound.
extension RegisteredClient {
  /// Returns the client with an account's key; pass `nil` for an account with Bearer tokens.
  package func proving(with key: ProofKey?) -> RegisteredClient {
    key == nil && proofKey == nil
      ? self
      : RegisteredClient(
        configuration: configuration, environment: environment, metadata: metadata, proofKey: key)
  }

  /// Checks the client for a new sign-in, and returns it with the key to which the new tokens will
  /// be bound, if any.
  package func provingAnew() throws(SQOAuthError) -> RegisteredClient {
    try ProfileRules(client: self).check()
    try checkAssertionAlgorithm()
    return proving(with: try newProofKey())
  }

  /// Returns the key for the proofs of a new sign-in; `nil` if the sign-in needs no proofs.
  func newProofKey() throws(SQOAuthError) -> ProofKey? {
    switch configuration.newBinding {
    case nil: return nil
    case .certificate?:
      try checkBindsToCertificates()
      return nil
    case let binding?: return try ProofKey(binding, supported: metadata.proofAlgorithms)
    }
  }

  private func checkBindsToCertificates() throws(SQOAuthError) {
    // If the app configured the endpoints, there is no metadata that could say whether the server
    // binds tokens.
    guard configuration.metadata != nil || metadata.bindsTokensToCertificates else {
      throw SQOAuthError(
        .signInUnsupported,
        "the server's metadata does not say that it binds tokens to certificates "
          + "(tls_client_certificate_bound_access_tokens)")
    }
  }

  /// Returns whether an account's key fits the binding that the configuration sets for new tokens.
  ///
  /// ``TokenBinding/dpop(algorithm:)`` needs a key that the SDK created, and
  /// ``TokenBinding/dpopKey(_:)`` needs the app's key. Any key fits a configuration without either.
  func fits(_ key: ProofKey?) -> Bool {
    switch configuration.newBinding {
    case .dpop?: key?.pair != nil
    case .dpopKey(let appKey)?: key != nil && key == (try? ProofKey(ofApp: appKey))
    case .certificate?, nil: true
    }
  }

  /// The authorization server's newest nonce for proofs, to be stored in an account's record.
  var serverNonce: String? {
    guard proofKey != nil, let server = Self.server(of: metadata.tokenEndpoint) else { return nil }
    return environment.proofServers.known(server).nonce
  }

  /// Uses the nonce from an account's record for the first proof, unless a newer nonce is known.
  func resume(serverNonce: String?) {
    guard let serverNonce, let server = Self.server(of: metadata.tokenEndpoint) else { return }
    environment.proofServers.resume(serverNonce, of: server)
  }

  private static func server(of endpoint: URL) -> ProofServers.Server? {
    (try? RequestTarget(endpoint)).map { .init($0, .authorization) }
  }

  private func prover() throws(SQOAuthError) -> Prover? {
    guard let proofKey else { return nil }
    return try Prover(
      proofKey, appKey: configuration.tokenBinding?.appKey, environment.proofServers,
      environment.clock)
  }

  /// How a request to the authorization server carries proofs.
  package enum Proving: Sendable {
    /// Each attempt has a proof, if the client has a key.
    case always
    /// Each attempt has a proof, if the client has a key. If the server rejects the proof and a new
    /// proof would not help, a last attempt is made without a proof. So the message itself must
    /// name the key.
    case ifAccepted
    /// The first attempt has no proof; if the server asks for a proof, each later attempt has one.
    case ifAsked
  }

  /// Sends a message to the authorization server, and repeats it if a new proof or new credentials
  /// may help; returns the last message with its response.
  ///
  /// The closure creates the message of each attempt. Each message needs new credentials, because a
  /// server may accept an assertion only once. A repeat can also help if the server's `Date` shows
  /// that the times in the first message were wrong. ``ProofRepeats`` limits the attempts. No message
  /// is sent after `end`, a steady time of the environment's clock, and the last one ends then.
  ///
  /// - SeeAlso: RFC 9449, section 8
  package func exchange<Message: ClientMessage>(
    at endpoint: URL, proving: Proving = .always, until end: Duration? = nil,
    _ message: () async throws(SQOAuthError) -> Message
  ) async throws(SQOAuthError) -> (WebResponse, Message) {
    let prover = try prover()
    let start = ContinuousClock.now
    var proof: Prover.Proof?
    if proving != .ifAsked {
      proof = try await prover?.proof(of: "POST", endpoint, to: .authorization)
    }
    var sent = try await message()
    var answer = try await exchange(sent, at: endpoint, proof, until: end)
    var repeats = ProofRepeats()
    var attempt = 1
    while true {
      let isNonce = Self.error(in: answer) == .useDPoPNonce
      let improves =
        repeats.isAllowed(forNonce: isNonce)
        && canImprove(sent, proof, after: answer, of: endpoint, by: prover)
      let omits = proof != nil && proving == .ifAccepted && Self.refusesProof(answer)
      guard improves || omits else { return (answer, sent) }
      sent = try await message()
      proof = improves ? try await prover?.proof(of: "POST", endpoint, to: .authorization) : nil
      // All attempts share the time limit of one request, because another process that needs the
      // account waits only for one request.
      attempt += 1
      answer = try await exchange(
        sent, at: endpoint, proof, attempt: attempt, since: start, until: end)
      guard improves else { return (answer, sent) }
    }
  }

  /// Returns whether the server may accept another message, with a new proof and new credentials.
  private func canImprove(
    _ sent: some ClientMessage, _ proof: Prover.Proof?, after answer: WebResponse,
    of endpoint: URL, by prover: Prover?
  ) -> Bool {
    guard let error = Self.error(in: answer) else { return false }
    if Self.refusesSignature(error, in: sent) { return wasClockWrong(answer, at: endpoint) }
    guard let prover else { return false }
    guard let proof else { return error == .useDPoPNonce || error == .invalidDPoPProof }
    return prover.canImprove(proof, after: error, answer.headers)
  }

  /// Returns whether a server may have refused something that the client has signed with a time.
  ///
  /// - SeeAlso: RFC 7523, sections 3.1 and 3.2; RFC 9101, section 6.2
  private static func refusesSignature(
    _ error: SQOAuthError.Code, in sent: some ClientMessage
  ) -> Bool {
    switch error {
    // The same secret again would be one more failed attempt, and could spend the grant.
    case .invalidClient: sent.client.authentication.usesAssertion
    case SQOAuthError.Code(rawValue: "invalid_request_object"): true
    case .invalidGrant: sent.hasSignedGrant
    default: false
    }
  }

  /// Returns whether a server has refused the request because of its proof.
  private static func refusesProof(_ answer: WebResponse) -> Bool {
    error(in: answer) == .invalidDPoPProof
  }

  private static func error(in answer: WebResponse) -> SQOAuthError.Code? {
    guard answer.status >= 400 else { return nil }
    return JSONMessage.members(of: answer.body)?["error"]?.string
      .map(SQOAuthError.Code.init(rawValue:))
  }

  /// Returns whether a server may have refused an assertion because of this machine's clock, and
  /// remembers the server's time.
  private func wasClockWrong(_ answer: WebResponse, at endpoint: URL) -> Bool {
    guard configuration.clientKey != nil || configuration.clientSecret != nil,
      let server = Self.server(of: endpoint)
    else { return false }
    return environment.proofServers.learnTime(answer.headers, from: server, by: environment.clock)
  }

  /// Returns the time of the server at an endpoint, or this machine's time if the difference is not
  /// known, or if this machine's date has been set since it was known.
  func serverTime(at endpoint: URL) -> Date {
    let known = Self.server(of: endpoint).flatMap { environment.proofServers.known($0).clockLead }
    return environment.clock.now(of: known)
  }

  /// How far this machine's clock is ahead of the authorization server's; `nil` if no response has
  /// shown it.
  var clockLead: Duration? {
    let endpoints = [metadata.pushedAuthorizationRequestEndpoint, metadata.tokenEndpoint]
    let (servers, clock) = (environment.proofServers, environment.clock)
    return endpoints.lazy.compactMap { $0.flatMap(Self.server(of:)) }
      .compactMap { servers.dateLead(of: $0, by: clock) }.first
  }

  /// Sends a message, and learns the nonce in its answer, even if the message has no proof.
  ///
  /// A later attempt has the rest of the time limit, which began at `start` with the first attempt.
  ///
  /// - Throws: ``SQOAuthError/Code/requestTimedOut`` if `end` has passed.
  private func exchange(
    _ message: some ClientMessage, at endpoint: URL, _ proof: Prover.Proof?, attempt: Int = 1,
    since start: ContinuousClock.Instant? = nil, until end: Duration?
  ) async throws(SQOAuthError) -> WebResponse {
    var request = message.httpRequest()
    if let start, let limit = request.timeout {
      request.timeout = max(.zero, limit - (ContinuousClock.now - start))
    }
    if let end {
      let rest = end - environment.clock.steadyTime
      guard rest > .zero else {
        throw SQOAuthError(
          .requestTimedOut,
          "the machine slept or the store was slow, so another process may be sending this request; "
            + (attempt > 1 ? "it was not sent again" : "nothing was sent"))
      }
      request.timeout = min(request.timeout ?? rest, rest)
    }
    if let proof { request.headers[DPoPProof.field] = proof.text }
    let response = try await environment.exchange(
      request, for: ObservedRequest(purpose: message.purpose, attempt: attempt))
    if let server = Self.server(of: endpoint) {
      // Only the check of a signed response needs the date.
      if configuration.authorizationResponseAlgorithm != nil || configuration.profile.signsMessages
      {
        environment.proofServers.note(response.headers, from: server, by: environment.clock)
      }
      if proofKey != nil { environment.proofServers.learn(response.headers, from: server) }
    }
    return response
  }
}
