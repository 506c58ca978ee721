import SQBasics
import SequencingOAuth

/// An authorization server that the options name.
enum Server: Sendable, Equatable {
  case known(KnownProvider)
  case issuer(String)
  case endpoints(Endpoints)

  /// The options that name a server.
  static let options: [Option] =
    [.provider, .issuer] + ProviderDetails.options + Endpoints.options

  /// Creates the server that the options name, and returns `nil` if they name none.
  init?(_ arguments: Arguments) throws(Failure) {
    let namesEndpoint = Endpoints.options.contains { arguments.contains($0) }
    if let name = arguments[.provider] {
      let known = try KnownProvider(name, ProviderDetails(arguments))
      guard !namesEndpoint else { throw KnownProvider.hasItsOwnEndpoints(known.name) }
      self = .known(known)
    } else if let stray = ProviderDetails.options.first(where: { arguments.contains($0) }) {
      throw .usage("\(stray.name) belongs to a --provider; name the provider, or leave it out")
    } else if let endpoints = Endpoints(arguments) {
      self = .endpoints(endpoints)
    } else if let issuer = arguments[.issuer] {
      guard !namesEndpoint else {
        throw .usage(
          "--issuer finds the endpoints; leave --authorize and the others out, or give both "
            + "--authorize and --token")
      }
      self = .issuer(issuer)
    } else if namesEndpoint {
      throw .usage("--authorize and --token need each other, and the other endpoints need both")
    } else {
      return nil
    }
  }

  var provider: Provider {
    switch self {
    case .known(let known):
      known.provider
    case .issuer(let issuer):
      .issuer(issuer)
    case .endpoints(let endpoints):
      endpoints.provider
    }
  }

  /// The address of the server; for a server named by its endpoints, the authorization endpoint.
  var address: String {
    switch self {
    case .known(let known): known.address
    case .issuer(let issuer): issuer
    case .endpoints(let endpoints): endpoints.authorization
    }
  }

  /// Returns whether an account was signed in at this server.
  func has(_ record: AccountRecord) -> Bool {
    switch self {
    case .known(.bluesky(let name)):
      KeptClient(record).isOf(name)
    case .known(let known):
      known.issuer.map { record.issuer == $0 } ?? (KeptClient(record).server == self)
    case .issuer(let issuer): record.issuer == issuer
    case .endpoints(let endpoints): record.tokenEndpoint == endpoints.token
    }
  }
}
