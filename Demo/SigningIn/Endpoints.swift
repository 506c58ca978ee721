import SequencingOAuth

/// A server whose endpoints the options name one by one.
struct Endpoints: Sendable, Equatable {
  var authorization: String
  var token: String
  var revocation: String?
  var deviceAuthorization: String?
  /// The address of the keys that sign the server's ID tokens.
  var jwks: String?
  var userInfo: String?
  /// The name of the server in its ID tokens.
  var issuer: String?

  /// The options that name an endpoint, and no issuer.
  static let options: [Option] = [
    .authorize, .tokenEndpoint, .revocationEndpoint, .deviceEndpoint, .jwks, .userInfo,
  ]

  /// The SDK's description of the server.
  var provider: Provider {
    .endpoints(
      authorization: authorization, token: token, revocation: revocation,
      deviceAuthorization: deviceAuthorization, jwks: jwks, userInfo: userInfo, issuer: issuer)
  }
}

// In an extension, so that Swift still makes the initializer of the values.
extension Endpoints {
  /// The endpoints that the options name; `nil` if they lack one that every sign-in needs.
  init?(_ arguments: Arguments) {
    guard let authorization = arguments[.authorize], let token = arguments[.tokenEndpoint] else {
      return nil
    }
    self.init(
      authorization: authorization, token: token, revocation: arguments[.revocationEndpoint],
      deviceAuthorization: arguments[.deviceEndpoint], jwks: arguments[.jwks],
      userInfo: arguments[.userInfo], issuer: arguments[.issuer])
  }
}
