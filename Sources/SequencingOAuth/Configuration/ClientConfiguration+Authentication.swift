import SQBasics

extension ClientConfiguration {
  /// Whether the client's requests need a client certificate on the TLS connection.
  var usesCertificate: Bool { authenticatesByCertificate || newBinding == .certificate }

  /// Whether the client proves its identity with its TLS certificate.
  var authenticatesByCertificate: Bool {
    (clientAuthentication ?? provider.clientAuthentication)?.usesCertificate ?? false
  }

  /// Returns the client's authentication method for an endpoint.
  ///
  /// `supported` has the methods that the endpoint supports, or is `nil` if the server's metadata
  /// has no list of them.
  func authentication(
    supported: [String]?
  ) throws(SQOAuthError) -> ClientAuthentication {
    try ClientAuthentication.chosen(
      clientAuthentication, providers: provider.clientAuthentication,
      hasKey: signsOrBringsAssertions, hasSecret: clientSecret != nil,
      basicEncodes: clientSecret.map {
        ClientCredentials.areChangedByBasic(id: clientID, secret: $0)
      } ?? false,
      supported: supported)
  }

  /// Throws if the method needs a missing secret or key, or cannot encode the identifier and the
  /// secret.
  static func check(
    _ explicit: ClientAuthentication?, providers: ClientAuthentication?, id: String,
    secret: String?, hasKey: Bool
  ) throws(SQOAuthError) {
    switch explicit {
    case nil, .publicClient?, .tlsClientAuth?, .selfSignedTLSClientAuth?:
      break
    case .privateKeyJWT?, .signedSecret?:
      guard hasKey else {
        throw SQOAuthError(
          .invalidConfiguration,
          "authentication by a signed token needs a client key or a clientAssertionSource")
      }
    case .clientSecretJWT?:
      _ = try SecretSigner(secret)
    case .basic?, .post?, .basicUnescaped?:
      guard secret != nil else {
        throw SQOAuthError(
          .invalidConfiguration,
          "authentication by Basic or in the body needs a client secret; for Basic, it may be an "
            + "empty text")
      }
    case let other?:
      throw SQOAuthError(
        .invalidConfiguration,
        "\"\(other.rawValue.printable)\" is not a client authentication of this SDK")
    }
    guard let secret, explicit ?? providers == .basicUnescaped else { return }
    // RFC 7617, section 2: the first colon ends the identifier.
    guard !id.utf8.contains(UInt8(ascii: ":")),
      (id + secret).utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
    else {
      throw SQOAuthError(
        .invalidConfiguration,
        "unescaped Basic cannot carry a colon in the client identifier, or a control character; "
          + "choose another client authentication")
    }
  }
}
