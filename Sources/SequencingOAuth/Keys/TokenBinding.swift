import SQBasics

/// A way to bind a client's tokens to a key, so that a stolen token is worth nothing.
///
/// With DPoP, the SDK sends a proof with each request for a token and with each request that uses a
/// token. The proof is a text that is signed with the key and is valid only for that request. The
/// server binds the tokens to the key, and accepts them only with such a proof. Set the binding as
/// ``ClientConfiguration/tokenBinding``.
///
/// - SeeAlso: RFC 9449
public enum TokenBinding: Sendable, Hashable {
  /// DPoP proofs with a key that the SDK creates for each account at its sign-in.
  ///
  /// The key is stored and protected like the account's tokens, so all processes that share a store
  /// share the key too. Without an `algorithm`, the key uses the first of ES256, EdDSA and PS256
  /// that the server's metadata lists, or ES256 if the metadata has no list.
  case dpop(algorithm: JWSAlgorithm? = nil)

  /// DPoP proofs with the app's own key for all accounts, such as a key in a hardware token.
  ///
  /// The store has only the key's thumbprint (RFC 7638), so a thief cannot use the tokens of a stolen
  /// store. A remote key needs its public half, `publicJWK`.
  case dpopKey(ClientKey)

  /// The certificate of the TLS connections, without proofs.
  ///
  /// The server binds the tokens to the certificate that the client presents when it requests them.
  /// Set this certificate as ``HTTPTransportConfiguration/clientCertificate`` of the environment's
  /// ``CurlTransport``; the requests that use the tokens need it too. The tokens' type stays
  /// Bearer, so the SDK cannot see that a token is bound.
  ///
  /// - SeeAlso: RFC 8705, section 3
  case certificate

  /// The app's own key; `nil` if the binding has none.
  var appKey: ClientKey? {
    if case .dpopKey(let key) = self { key } else { nil }
  }
}
