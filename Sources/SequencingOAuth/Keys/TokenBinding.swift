import SQBasics

/// A way to bind a client's tokens to a key, so that a stolen token is worth nothing.
///
/// The SDK then sends a proof with each request for a token and each request with a token: a text,
/// signed with the key, that is valid for this request only (DPoP). The server binds the tokens to
/// the key, and accepts them only with such a proof. Set it as
/// ``ClientConfiguration/tokenBinding``.
///
/// - SeeAlso: RFC 9449
public enum TokenBinding: Sendable, Hashable {
  /// Proofs with a key that the SDK makes for each account at its sign-in.
  ///
  /// The key is stored with the account's tokens, as secretly as they are, so all processes that
  /// share a store share it too. Without an algorithm, the key is of the first of ES256, EdDSA and
  /// PS256 that the server's metadata lists, and of ES256 if it lists none.
  case dpop(algorithm: JWSAlgorithm? = nil)

  /// Proofs with a key of the app's own for all accounts, such as one in a hardware token.
  ///
  /// The store has only the key's thumbprint (RFC 7638), so a stolen store is worth nothing either.
  /// A key that signs elsewhere needs its public half, `publicJWK`.
  case dpopKey(ClientKey)

  /// The certificate of the TLS connections, without proofs.
  ///
  /// The server binds the tokens to the certificate that the client has when it asks for them. The
  /// environment's ``CurlTransport`` needs it, in ``HTTPTransportConfiguration/clientCertificate``,
  /// also for requests with the tokens. Their type stays Bearer, so the SDK cannot see that a token
  /// is bound.
  ///
  /// - SeeAlso: RFC 8705, section 3
  case certificate

  /// The app's own key, if it has one.
  var appKey: ClientKey? {
    if case .dpopKey(let key) = self { key } else { nil }
  }
}
