import SQBasics
import SQFoundation
import SequencingOAuth

/// A provider that the SDK knows by the name in `--provider`.
enum KnownProvider: Sendable, Equatable {
  case sequencing
  case google
  case facebook
  /// A realm of a Keycloak server.
  case keycloak(baseURL: String, realm: String)

  /// The values of `--provider`.
  static let names = ["sequencing", "google", "facebook", "keycloak"]

  /// Finds a provider by its name.
  ///
  /// Keycloak needs an issuer, and no other provider accepts one.
  init(_ name: String, issuer: String?) throws(Failure) {
    switch name {
    case "sequencing": self = .sequencing
    case "google": self = .google
    case "facebook": self = .facebook
    case "keycloak":
      guard let realm = Self.realm(issuer) else {
        throw .usage(
          "--provider keycloak needs the realm: --issuer https://HOST/realms/REALM, or "
            + "https://HOST/auth/realms/REALM before version 17")
      }
      self = realm
      return
    default:
      throw .usage(
        "--provider takes sequencing, google, facebook or keycloak, not \"\(name.onScreen)\""
          + Suggestion.question(name, among: Self.names))
    }
    guard issuer == nil else { throw Self.hasItsOwnEndpoints(name) }
  }

  static func hasItsOwnEndpoints(_ name: String) -> Failure {
    .usage(
      "--provider \(name) knows its endpoints; leave --issuer, --authorize, --token and "
        + "the other endpoints out")
  }

  var name: String {
    switch self {
    case .sequencing: "sequencing"
    case .google: "google"
    case .facebook: "facebook"
    case .keycloak: "keycloak"
    }
  }

  /// The SDK's preset for this provider.
  var provider: Provider {
    switch self {
    case .sequencing: .sequencing
    case .google: .google
    case .facebook: .facebook
    case .keycloak(let baseURL, let realm): .keycloak(baseURL: baseURL, realm: realm)
    }
  }

  /// The issuer in the records of the provider's accounts; `nil` for a provider without one.
  var issuer: String? {
    switch self {
    case .sequencing, .facebook: nil
    case .google: "https://accounts.google.com"
    case .keycloak(let baseURL, let realm): "\(baseURL)/realms/\(realm)"
    }
  }

  /// The address of the provider's authorization server.
  var address: String {
    switch self {
    case .sequencing: "https://sequencing.com"
    case .google: "https://accounts.google.com"
    case .facebook: "https://www.facebook.com"
    case .keycloak(let baseURL, _): baseURL
    }
  }

  /// Parses a realm's issuer: a URL that ends in `/realms/REALM`.
  private static func realm(_ issuer: String?) -> KnownProvider? {
    guard let issuer, let marker = issuer.firstRange(of: "/realms/") else { return nil }
    let realm = issuer[marker.upperBound...].prefix { $0 != "/" }
    // A realm whose name needs escapes works with `--issuer` and without `--provider`.
    let isPlain = realm.utf8.allSatisfy { byte in
      let letter = Character(UnicodeScalar(byte))
      return letter.isASCII && (letter.isLetter || letter.isNumber || "-_.".contains(letter))
    }
    let rest = issuer[marker.upperBound...].dropFirst(realm.count)
    guard isPlain, !realm.isEmpty, rest.isEmpty || rest == "/" else { return nil }
    return .keycloak(baseURL: String(issuer[..<marker.lowerBound]), realm: String(realm))
  }
}
