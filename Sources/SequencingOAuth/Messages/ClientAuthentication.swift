import SQBasics

/// A method by which the client proves its identity to the server.
///
/// - SeeAlso: RFC 6749, section 2.3; RFC 7591, section 2 (`token_endpoint_auth_method`)
public struct ClientAuthentication: RawRepresentable, Sendable, Hashable, Codable {
  /// The registered name of the method; for ``basicUnescaped`` and ``signedSecret``, the SDK's own
  /// name.
  public let rawValue: String

  /// Creates a method from a name; the SDK supports only the constants of this type.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// An `Authorization: Basic` field with the identifier and the secret, each form-encoded.
  ///
  /// Letters, digits and `-._~*` are not changed by the encoding. Many servers do not decode the
  /// other characters; for those servers, see ``basicUnescaped`` and ``post``.
  ///
  /// If the app chooses this method and passes an empty text as the secret, the secret is empty:
  /// Reddit expects that of an installed app. Otherwise an empty text counts as no secret.
  ///
  /// - SeeAlso: RFC 6749, section 2.3.1
  public static let basic = Self(rawValue: "client_secret_basic")
  /// An `Authorization: Basic` field with the identifier and the secret, both unchanged.
  ///
  /// Use this method for a server that neither decodes the encoding of RFC 6749 nor accepts the
  /// secret in the body. The identifier must not contain a colon, and neither text may contain
  /// control characters. The SDK uses this method only if the app or the ``Provider`` chooses it.
  ///
  /// - SeeAlso: RFC 7617, section 2
  public static let basicUnescaped = Self(rawValue: "client_secret_basic_unescaped")
  /// The identifier and the secret in the body of the request.
  public static let post = Self(rawValue: "client_secret_post")
  /// The method of a public client: the identifier in the body, and no secret.
  public static let publicClient = Self(rawValue: "none")
  /// A new JWT for each request: signed with the ``ClientConfiguration/clientKey``, or from the
  /// ``ClientConfiguration/clientAssertionSource``.
  ///
  /// - SeeAlso: RFC 7523, section 2.2; OpenID Connect Core 1.0, section 9
  public static let privateKeyJWT = Self(rawValue: "private_key_jwt")
  /// A new JWT for each request, signed with the client secret by HMAC with SHA-256.
  ///
  /// The secret itself is never sent. It must have at least 32 bytes (RFC 7518, section 3.2).
  ///
  /// - SeeAlso: RFC 7523, section 2.2; OpenID Connect Core 1.0, section 9
  public static let clientSecretJWT = Self(rawValue: "client_secret_jwt")
  /// A new JWT for each request, signed with the ``ClientConfiguration/clientKey`` and sent in the
  /// body in the place of a client secret.
  ///
  /// Apple calls this JWT the client secret. The client has no other secret. Each JWT is valid for
  /// minutes only.
  public static let signedSecret = Self(rawValue: "client_secret_signed")

  /// The certificate of the TLS connection, issued by an authority that the server trusts.
  ///
  /// The environment's ``CurlTransport`` needs the certificate, in
  /// ``HTTPTransportConfiguration/clientCertificate``. No secret is sent.
  ///
  /// - SeeAlso: RFC 8705, section 2.1
  public static let tlsClientAuth = Self(rawValue: "tls_client_auth")
  /// The certificate of the TLS connection, self-signed by the client and registered at the server.
  ///
  /// It needs the same setup as ``tlsClientAuth``.
  ///
  /// - SeeAlso: RFC 8705, section 2.2
  public static let selfSignedTLSClientAuth = Self(rawValue: "self_signed_tls_client_auth")

  /// Whether the client sends an assertion.
  var usesAssertion: Bool {
    self == .privateKeyJWT || self == .clientSecretJWT || self == .signedSecret
  }
  /// Whether the client needs a secret from the server.
  var usesSecret: Bool { [.basic, .basicUnescaped, .post, .clientSecretJWT].contains(self) }
  /// Whether the TLS connection's certificate proves the client's identity.
  var usesCertificate: Bool { self == .tlsClientAuth || self == .selfSignedTLSClientAuth }
}

extension ClientAuthentication {
  /// Returns the method for a client.
  ///
  /// The app's choice comes first, then the provider's choice of a certificate or of a signed
  /// secret. A client with a key, or with a source of assertions, sends an assertion. Any other
  /// client with a secret uses the provider's choice, or else Basic, because every server must
  /// support Basic (RFC 6749, section 2.3.1). There are exceptions. The secret goes in the body if
  /// the server lists that method but not Basic, or if it lists both and Basic would encode a part
  /// of the credentials (`basicEncodes`), because many servers do not decode it. The client signs
  /// with the secret if the server lists `client_secret_jwt` but neither Basic nor the body. The
  /// SDK never tries a second method, because that would send an authorization code twice.
  static func chosen(
    _ explicit: ClientAuthentication?, providers: ClientAuthentication? = nil,
    hasKey: Bool = false, hasSecret: Bool,
    basicEncodes: Bool = false, supported: [String]?
  ) throws(SQOAuthError) -> ClientAuthentication {
    // The app's choice applies even if the server's metadata does not list it.
    if let explicit { return explicit }
    if let providers, providers.usesCertificate { return providers }
    // Without a key, the app may have signed the JWT itself and passed it as the client secret.
    if providers == .signedSecret {
      return hasKey ? .signedSecret : hasSecret ? .post : .publicClient
    }
    if hasKey {
      guard supported?.contains(privateKeyJWT.rawValue) ?? true else {
        throw SQOAuthError(
          .invalidConfiguration,
          "the server's metadata does not list private_key_jwt; if the client does not authenticate "
            + "with its key or assertion, or if the metadata is wrong, set the configuration's "
            + "clientAuthentication"
        )
      }
      return privateKeyJWT
    }
    guard hasSecret else { return .publicClient }
    if let providers { return providers }
    // RFC 8414, section 2: an absent list means client_secret_basic.
    guard let supported else { return .basic }
    let takesBody = supported.contains(post.rawValue)
    if supported.contains(basic.rawValue) { return basicEncodes && takesBody ? .post : .basic }
    if !takesBody, supported.contains(clientSecretJWT.rawValue) { return clientSecretJWT }
    guard takesBody else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the server accepts the client secret neither by Basic nor in the body nor as a key; "
          + "if its metadata is wrong, set the configuration's clientAuthentication")
    }
    return .post
  }
}
