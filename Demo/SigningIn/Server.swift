import SequencingOAuth

/// An authorization server that the options name.
enum Server: Sendable, Equatable {
  case known(KnownProvider)
  case issuer(String)
  case endpoints(authorization: String, token: String, revocation: String?)

  /// The options that name a server.
  static let options: [Option] = [
    .provider, .issuer, .authorize, .tokenEndpoint, .revocationEndpoint,
  ]

  /// The server that the options name; `nil` if they name none, as for the sandbox.
  init?(_ arguments: Arguments) throws(Failure) {
    let revocation = arguments[.revocationEndpoint]
    let endpoints = [arguments[.authorize], arguments[.tokenEndpoint], revocation]
    if let name = arguments[.provider] {
      let known = try KnownProvider(name, issuer: arguments[.issuer])
      guard endpoints.allSatisfy({ $0 == nil }) else {
        throw KnownProvider.hasItsOwnEndpoints(known.name)
      }
      self = .known(known)
      return
    }
    switch (arguments[.issuer], arguments[.authorize], arguments[.tokenEndpoint]) {
    case (nil, nil, nil) where revocation == nil:
      return nil
    case (let issuer?, nil, nil) where revocation == nil:
      self = .issuer(issuer)
    case (nil, let authorize?, let token?):
      self = .endpoints(authorization: authorize, token: token, revocation: revocation)
    case (_?, _, _):
      throw .usage("--issuer finds the endpoints; leave --authorize, --token and --revocation out")
    default:
      throw .usage("--authorize and --token need each other, and --revocation needs both")
    }
  }

  var provider: Provider {
    switch self {
    case .known(let known):
      known.provider
    case .issuer(let issuer):
      .issuer(issuer)
    case .endpoints(let authorization, let token, let revocation):
      .endpoints(authorization: authorization, token: token, revocation: revocation)
    }
  }

  /// An address of the server.
  var address: String {
    switch self {
    case .known(let known): known.address
    case .issuer(let issuer): issuer
    case .endpoints(let authorization, _, _): authorization
    }
  }

  /// Whether an account was signed in at this server.
  func has(_ record: AccountRecord) -> Bool {
    switch self {
    case .known(let known):
      known.issuer.map { record.issuer == $0 } ?? (KeptClient(record).server == self)
    case .issuer(let issuer): record.issuer == issuer
    case .endpoints(_, let token, _): record.tokenEndpoint == token
    }
  }
}
