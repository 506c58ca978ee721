import SQBasics
public import SQFoundation

/// An OpenID provider's claims about a user, with properties for the standard claims.
///
/// ``IDToken`` and ``UserInfo`` conform. The property of a standard claim is `nil` if the claim is
/// missing, is an empty text or has a wrong type. Only ``subject`` identifies the user, because a
/// provider may later give the same name or address to another user.
///
/// - SeeAlso: OpenID Connect Core 1.0, section 5.1
public protocol UserClaims: Sendable {
  /// The user's identifier at the issuer (`sub`).
  ///
  /// It never changes, and the issuer never gives it to another user.
  var subject: String { get }
  /// All claims by their names, as the provider sent them.
  var claims: [String: JSONValue] { get }
}

extension UserClaims {
  /// The user's full name for display (`name`).
  public var name: String? { text("name") }
  /// The user's given names (`given_name`).
  public var givenName: String? { text("given_name") }
  /// The user's surnames (`family_name`).
  public var familyName: String? { text("family_name") }
  /// The user's middle names (`middle_name`).
  public var middleName: String? { text("middle_name") }
  /// The user's casual name (`nickname`).
  public var nickname: String? { text("nickname") }
  /// The user's preferred short name (`preferred_username`); other users may have the same one.
  public var preferredUsername: String? { text("preferred_username") }
  /// The address of the user's profile page (`profile`).
  public var profileURL: URL? { url("profile") }
  /// The address of a picture of the user (`picture`).
  public var pictureURL: URL? { url("picture") }
  /// The address of the user's own page (`website`).
  public var websiteURL: URL? { url("website") }
  /// The user's preferred e-mail address (`email`); it may change, and may later belong to another
  /// user.
  public var email: String? { text("email") }
  /// Whether the provider has verified that the user controls ``email`` (`email_verified`).
  ///
  /// Some providers send a text instead of a Boolean, so `"true"` and `"false"` are accepted too.
  public var isEmailVerified: Bool? { truth("email_verified") }
  /// The user's gender (`gender`), such as `female`, `male` or any other text.
  public var gender: String? { text("gender") }
  /// The user's birthday (`birthdate`): `YYYY-MM-DD`, `YYYY`, or `0000-MM-DD` without the year.
  public var birthdate: String? { text("birthdate") }
  /// The name of the user's time zone (`zoneinfo`), such as `Europe/Paris`.
  public var timeZoneName: String? { text("zoneinfo") }
  /// The user's language and region (`locale`), such as `en-US`.
  public var localeName: String? { text("locale") }
  /// The user's preferred telephone number (`phone_number`).
  public var phoneNumber: String? { text("phone_number") }
  /// Whether the provider has verified that the user controls ``phoneNumber``
  /// (`phone_number_verified`).
  public var isPhoneNumberVerified: Bool? { truth("phone_number_verified") }
  /// The user's preferred postal address (`address`).
  public var address: UserAddress? { UserAddress(claims["address"]) }
  /// When the user's data last changed (`updated_at`).
  public var updateDate: Date? {
    claims["updated_at"]?.number.map(Date.init(timeIntervalSince1970:))
  }

  private func text(_ name: String) -> String? {
    claims[name]?.string.flatMap { $0.isEmpty ? nil : $0 }
  }

  private func url(_ name: String) -> URL? { text(name).flatMap { URL(string: $0) } }

  private func truth(_ name: String) -> Bool? {
    switch claims[name] {
    case .bool(let value): value
    case .string("true"): true
    case .string("false"): false
    default: nil
    }
  }
}

/// A user's postal address; every part may be missing.
///
/// - SeeAlso: OpenID Connect Core 1.0, section 5.1.1
public struct UserAddress: Sendable, Hashable {
  /// The whole address as lines for a label (`formatted`).
  public let formatted: String?
  /// The street with the house number, possibly in several lines (`street_address`).
  public let streetAddress: String?
  /// The city (`locality`).
  public let locality: String?
  /// The state, the province or the region (`region`).
  public let region: String?
  /// The postal code (`postal_code`).
  public let postalCode: String?
  /// The name of the country (`country`).
  public let country: String?

  init?(_ claim: JSONValue?) {
    guard let members = claim?.object else { return nil }
    formatted = members["formatted"]?.string
    streetAddress = members["street_address"]?.string
    locality = members["locality"]?.string
    region = members["region"]?.string
    postalCode = members["postal_code"]?.string
    country = members["country"]?.string
  }
}

extension UserAddress: Redacted {}
