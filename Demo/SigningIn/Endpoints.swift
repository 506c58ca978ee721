import SequencingOAuth

/// A server with its endpoints named one by one in the options.
struct Endpoints: Sendable, Equatable {
  var authorization: String
  var token: String
  var revocation: String?
  var deviceAuthorization: String?
  /// The address of the server's public keys for its ID tokens.
  var jwks: String?
  var userInfo: String?
  /// The name of the server in its ID tokens.
  var issuer: String?

  /// The options that name an endpoint, without the option for the issuer.
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

// The initializer is in an extension, so that the struct keeps its memberwise initializer.
extension Endpoints {
  /// Creates the endpoints in the options, and returns `nil` if a required endpoint is missing.
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
