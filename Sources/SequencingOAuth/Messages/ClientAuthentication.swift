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
