import SQBasics

/// The issuers of a provider with tenants: a text with a placeholder for the tenant's identifier.
///
/// Each ID token names its tenant, and must have that tenant's issuer.
struct IssuerTemplate: Sendable, Hashable {
  /// The tenants whose users may sign in.
  enum Tenants: Sendable, Hashable {
    case all
    case only(String)
    case allBut(String)
  }

  /// The placeholder for the tenant's identifier in ``text``.
  static let placeholder = "{tenantid}"

  /// The issuer with the placeholder, as the provider's metadata writes it.
  let text: String
  /// The claim with the tenant's identifier.
  let claim: String
  let tenants: Tenants

  /// Returns the issuer that an ID token with these claims must name; `nil` if the claims name no
  /// tenant, or a tenant whose users must not sign in.
  ///
  /// A tenant's identifier must be a UUID, so it cannot add another path segment to the issuer.
  func issuer(of claims: [String: JSONValue]) -> String? {
    guard let tenant = claims[claim].string, Self.isUUID(tenant) else { return nil }
    switch tenants {
    case .only(let only) where tenant != only: return nil
    case .allBut(let other) where tenant == other: return nil
    default: return text.replacing(Self.placeholder, with: tenant)
    }
  }

  /// Returns whether a text is a UUID: 32 hexadecimal digits in five groups.
  static func isUUID(_ text: String) -> Bool {
    let groups = text.split(separator: "-", omittingEmptySubsequences: false)
    return groups.map(\.utf8.count) == [8, 4, 4, 4, 12]
      && groups.joined(separator: "").utf8.allSatisfy { $0.hexadecimalValue != nil }
  }
}
