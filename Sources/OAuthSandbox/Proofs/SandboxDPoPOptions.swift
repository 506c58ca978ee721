/// The settings of a sandbox that binds tokens to clients' keys.
///
/// A client with a bound token proves in each request that it holds the key.
///
/// - SeeAlso: RFC 9449
public struct SandboxDPoPOptions: Sendable, Hashable {
  /// The sandbox's answer to requests with and without a proof.
  public enum Policy: Sendable, Hashable, CaseIterable {
    /// Proofs are ignored, and every token is a Bearer token.
    case off
    /// A token is bound to the key of the request's proof. Without a proof it is a Bearer token.
    ///
    /// A client with ``SandboxClient/requiresBoundTokens`` gets no token without a proof.
    case accepted
    /// No client gets a token without a proof, and the API accepts no Bearer token.
    case required
  }

  /// A part of the sandbox that checks proofs.
  public enum Party: Sendable, Hashable, CaseIterable {
    /// The token endpoint and the endpoint for pushed requests.
    case authorizationServer
    /// The protected API, the drive and the UserInfo endpoint, and a gRPC server beside the
    /// sandbox.
    case api
  }

  /// A form of nonces; both forms are legal, and the client must send a nonce back unchanged.
  ///
  /// - SeeAlso: RFC 9449, section 8.1
  public enum NonceForm: Sendable, Hashable, CaseIterable {
    /// A text of 43 letters, digits, hyphens and underscores.
    case plain
    /// A text of 90 characters with all punctuation that a nonce may have, such as commas.
    case punctuated
  }

  /// The answer to requests with and without a proof.
  public var policy = Policy.off
  /// The algorithms that may sign a proof, `dpop_signing_alg_values_supported`.
  ///
  /// An HMAC algorithm in the list has no effect, because a proof contains its public key. The
  /// defaults are those of FAPI 2.0.
  ///
  /// - SeeAlso: FAPI 2.0 Security Profile, section 5.4.1
  public var algorithms: [SandboxSigningAlgorithm] = [.es256, .ps256, .edDSA]
  /// The parties that accept a proof only if it contains a `nonce` that they offered.
  ///
  /// They answer other proofs with `use_dpop_nonce` and the nonce in the field `DPoP-Nonce`.
  ///
  /// - SeeAlso: RFC 9449, sections 8 and 9
  public var noncesRequiredBy: Set<Party> = []
  /// The time after which the nonce changes.
  ///
  /// The previous nonce stays valid for this time too.
  public var nonceLifetime: Duration = .seconds(300)
  /// The form of the nonces.
  public var nonceForm = NonceForm.plain
  /// Whether a party's nonce changes after each request that it did not refuse.
  ///
  /// After the change, the previous nonce is no longer valid. The client learns the new one from
  /// the next refusal, unless ``offersNonceInEveryAnswer`` is set.
  public var renewsNonceAfterSuccess = false
  /// Whether a party that requires nonces offers one with every answer, even after a success.
  ///
  /// If `false`, it offers one only with `use_dpop_nonce`.
  public var offersNonceInEveryAnswer = false
  /// Whether the API has nonces of its own.
  ///
  /// If `false`, the API and the authorization server accept the same nonces.
  public var apiHasOwnNonces = false
  /// The spelling of the scheme in the API's challenges, which clients compare without case.
  public var challengeScheme = "DPoP"
  /// Whether the API's challenges have no `algs`, and the answers with these challenges have no
  /// body.
  ///
  /// A server may leave out both.
  public var challengesAreBare = false
  /// Whether every sign-in must name the key of its tokens, by `dpop_jkt` or a proof at `/par`.
  ///
  /// - SeeAlso: RFC 9449, section 10
  public var requiresKeyOfSignIn = false
  /// Whether the refresh tokens of confidential clients are bound to a key too.
  ///
  /// If `false`, only the refresh tokens of public clients are bound (RFC 9449, section 5).
  public var bindsAllRefreshTokens = false
  /// The maximum age of a proof, by its `iat` and the sandbox's clock.
  public var proofLifetime: Duration = .seconds(60)
  /// The maximum time by which a proof's `iat` may lie in the future.
  public var clockTolerance: Duration = .seconds(10)

  /// Creates settings with a policy.
  public init(_ policy: Policy = .off) {
    self.policy = policy
  }

  var isOn: Bool { policy != .off }

  /// The algorithms that may sign a proof, by name.
  var algorithmNames: [String] { algorithms.filter { !$0.usesSecret }.map(\.rawValue) }
}

extension SandboxEndpoint {
  /// The party that checks proofs at this endpoint, or `nil` if the endpoint ignores proofs.
  var proofParty: SandboxDPoPOptions.Party? {
    switch self {
    case .token, .pushedAuthorization: .authorizationServer
    case .userInfo, .me, .files, .driveAbout, .driveFiles, .driveFile, .driveContent, .driveUpload:
      .api
    default: nil
    }
  }
}
