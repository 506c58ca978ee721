import Basics

/// How the client proves who it is at the token endpoint: exactly one way in each request.
///
/// - SeeAlso: RFC 6749, section 2.3; RFC 7591, section 2 (`token_endpoint_auth_method`)
public struct ClientAuthentication: RawRepresentable, Sendable, Hashable, Codable {
  /// The method's name: a registered one, or the SDK's own for ``basicUnescaped``.
  public let rawValue: String

  /// Wraps a name; the SDK carries out the four methods that are named here.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// An `Authorization: Basic` field with the identifier and the secret, each form-encoded first.
  ///
  /// Letters, digits and `-._~*` stay as they are. Many servers do not decode the rest: see
  /// ``basicUnescaped`` and ``post``.
  ///
  /// - SeeAlso: RFC 6749, section 2.3.1
  public static let basic = Self(rawValue: "client_secret_basic")
  /// An `Authorization: Basic` field with the identifier and the secret as they are.
  ///
  /// For servers that do not decode what RFC 6749 has clients encode, and that do not take the secret
  /// in the body either. The identifier must hold no colon, and neither may hold a control character.
  /// It is never chosen unless the app or the ``Provider`` names it.
  ///
  /// - SeeAlso: RFC 7617, section 2
  public static let basicUnescaped = Self(rawValue: "client_secret_basic_unescaped")
  /// The identifier and the secret in the request's body.
  public static let post = Self(rawValue: "client_secret_post")
  /// A public client: the identifier in the body and no proof.
  public static let publicClient = Self(rawValue: "none")
}

extension ClientAuthentication {
  /// The method for a client that did not choose one.
  ///
  /// With a secret it is Basic, which every server must support (RFC 6749, section 2.3.1), unless the
  /// server lists the body and either does not list Basic, or `basicEncodes` a part of the
  /// credentials, which many servers do not decode. No method is ever tried out: a second attempt
  /// would show the code twice.
  static func chosen(
    _ explicit: ClientAuthentication?, providers: ClientAuthentication? = nil, hasSecret: Bool,
    basicEncodes: Bool = false, supported: [String]?
  ) throws(SQOAuthError) -> ClientAuthentication {
    // What the app says is believed, even where the metadata does not list it.
    if let explicit { return explicit }
    guard hasSecret else { return .publicClient }
    if let providers { return providers }
    // RFC 8414, section 2: an absent list means client_secret_basic.
    guard let supported else { return .basic }
    let takesBody = supported.contains(post.rawValue)
    if supported.contains(basic.rawValue) { return basicEncodes && takesBody ? .post : .basic }
    guard takesBody else {
      throw SQOAuthError(
        .invalidConfiguration,
        "the server takes the client secret neither by Basic nor in the body; "
          + "set the client authentication by hand if its metadata is wrong")
    }
    return .post
  }
}

extension ClientConfiguration {
  /// How the client authenticates at an endpoint that lists these methods; `nil` for no list.
  func authentication(
    supported: [String]?
  ) throws(SQOAuthError) -> ClientAuthentication {
    try ClientAuthentication.chosen(
      clientAuthentication, providers: provider.clientAuthentication,
      hasSecret: clientSecret != nil,
      basicEncodes: clientSecret.map {
        ClientCredentials.areChangedByBasic(id: clientID, secret: $0)
      } ?? false,
      supported: supported)
  }

  /// Refuses a method that needs a secret which is not there, or that cannot carry the credentials.
  static func check(
    _ explicit: ClientAuthentication?, providers: ClientAuthentication?, id: String,
    secret: String?
  ) throws(SQOAuthError) {
    switch explicit {
    case nil, .publicClient?:
      break
    case .basic?, .post?, .basicUnescaped?:
      guard secret != nil else {
        throw SQOAuthError(
          .invalidConfiguration, "authentication by Basic or in the body needs a client secret")
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
