import SQBasics
import SQFoundation
import SequencingOAuth

/// What some providers need besides their name.
struct ProviderDetails: Sendable, Equatable {
  var issuer: String?
  var tenant: String?
  var team: String?
  var audience: String?
  var handle: String?

  /// The options for the details.
  static let options: [Option] = [.tenant, .team, .audience, .handle]

  /// The options that were given, besides the issuer.
  fileprivate var given: [Option] {
    [(Option.tenant, tenant), (.team, team), (.audience, audience), (.handle, handle)]
      .compactMap { $1 == nil ? nil : $0 }
  }
}

extension ProviderDetails {
  init(_ arguments: Arguments) {
    self.init(
      issuer: arguments[.issuer], tenant: arguments[.tenant], team: arguments[.team],
      audience: arguments[.audience], handle: arguments[.handle])
  }
}

extension KnownProvider {
  /// Finds a provider by its name.
  ///
  /// Fails if an option that the provider needs is missing, or if the provider has no use for an
  /// option.
  init(_ name: String, _ details: ProviderDetails) throws(Failure) {
    self = try Self.named(name, details)
    let own: [Option] =
      switch self {
      case .microsoft: [.tenant]
      case .apple: [.team]
      case .auth0: [.audience]
      case .bluesky: [.handle]
      default: []
      }
    if let stray = details.given.first(where: { option in !own.contains { $0.name == option.name } }
    ) {
      throw .usage("--provider \(name) takes no \(stray.name); leave it out")
    }
    guard details.issuer == nil || Self.takesIssuer(name) else {
      throw Self.hasItsOwnEndpoints(name)
    }
  }

  /// Returns whether `--issuer` can name the server of a provider.
  static func takesIssuer(_ name: String) -> Bool {
    ["keycloak", "gitlab", "okta", "auth0"].contains(name)
  }

  private static func named(
    _ name: String, _ details: ProviderDetails
  ) throws(Failure) -> KnownProvider {
    switch name {
    case "sequencing": .sequencing
    case "google": .google
    case "facebook": .facebook
    case "github": .gitHub
    case "slack": .slack
    case "keycloak":
      try required(
        realm(details.issuer), name,
        "the realm: --issuer https://HOST/realms/REALM, or https://HOST/auth/realms/REALM before "
          + "version 17")
    case "gitlab": .gitLab(baseURL: details.issuer ?? "https://gitlab.com")
    case "microsoft": .microsoft(tenant: details.tenant ?? "common")
    case "apple":
      .apple(
        teamID: try required(
          details.team, name, "the identifier of the developer's team: \(Option.team.name) ID"))
    case "okta":
      try required(
        okta(details.issuer), name,
        "the authorization server: --issuer https://DOMAIN/oauth2/default, or https://DOMAIN for "
          + "the organization's own")
    case "auth0":
      .auth0(
        domain: try required(details.issuer, name, "the domain: --issuer https://DOMAIN"),
        audience: details.audience)
    case "bluesky":
      .bluesky(
        handle: try required(
          details.handle, name, "the user: \(Option.handle.name) alice.bsky.social, or a DID"))
    default:
      throw .usage(
        "--provider takes \(names.dropLast().joined(separator: ", ")) or \(names.last ?? ""), not "
          + "\"\(name.onScreen)\"" + Suggestion.question(name, among: names))
    }
  }

  private static func required<Value>(
    _ value: Value?, _ name: String, _ what: String
  ) throws(Failure) -> Value {
    guard let value else { throw .usage("--provider \(name) needs \(what)") }
    return value
  }

  /// The details with which ``init(_:_:)`` finds this provider again.
  var details: ProviderDetails {
    var details = ProviderDetails()
    switch self {
    case .microsoft(let tenant): details.tenant = tenant
    case .apple(let team): details.team = team
    case .auth0(_, let audience): details.audience = audience
    case .bluesky(let handle): details.handle = handle
    default: break
    }
    if Self.takesIssuer(name) { details.issuer = provider.issuer }
    return details
  }

  /// Parses a realm's issuer: a URL that ends in `/realms/REALM`.
  private static func realm(_ issuer: String?) -> KnownProvider? {
    guard let issuer, let marker = issuer.firstRange(of: "/realms/") else { return nil }
    let realm = issuer[marker.upperBound...].prefix { $0 != "/" }
    // Refuse a realm whose name needs escapes; it works with `--issuer`, without `--provider`.
    guard isPlain(realm), isEnd(issuer[marker.upperBound...].dropFirst(realm.count)) else {
      return nil
    }
    return .keycloak(baseURL: String(issuer[..<marker.lowerBound]), realm: String(realm))
  }

  /// Parses the issuer of an Okta server: a URL without a path, or with `/oauth2/SERVER`.
  private static func okta(_ issuer: String?) -> KnownProvider? {
    guard let issuer else { return nil }
    guard let marker = issuer.firstRange(of: "/oauth2/") else {
      return .okta(domain: withoutSlash(issuer), server: nil)
    }
    let server = issuer[marker.upperBound...].prefix { $0 != "/" }
    guard isPlain(server), isEnd(issuer[marker.upperBound...].dropFirst(server.count)) else {
      return nil
    }
    return .okta(domain: String(issuer[..<marker.lowerBound]), server: String(server))
  }

  private static func withoutSlash(_ text: String) -> String {
    text.hasSuffix("/") ? String(text.dropLast()) : text
  }

  private static func isEnd(_ rest: Substring) -> Bool { rest.isEmpty || rest == "/" }

  private static func isPlain(_ name: Substring) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy { $0.isAlphanumeric || "-_.".utf8.contains($0) }
  }
}
