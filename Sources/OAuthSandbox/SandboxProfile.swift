public import SQBasics

/// The information about a user that apps can get: the standard claims of OpenID Connect and any
/// other claims.
///
/// An app gets a claim if the user allowed the claim's scope, or if the app requested the claim
/// with the parameter `claims`. A claim that is `nil` is left out.
///
/// - SeeAlso: OpenID Connect Core 1.0, section 5.1
public struct SandboxProfile: Sendable, Hashable {
  /// The full name, `name`.
  public var name: String?
  /// The given names, `given_name`.
  public var givenName: String?
  /// The family names, `family_name`.
  public var familyName: String?
  /// The casual name, `nickname`.
  public var nickname: String?
  /// The name by which the user wants to be called, `preferred_username`.
  public var preferredUserName: String?
  /// The address of the user's profile page, `profile`.
  public var page: String?
  /// The address of the user's picture, `picture`.
  public var picture: String?
  /// The address of the user's own website, `website`.
  public var website: String?
  /// The gender, `gender`.
  public var gender: String?
  /// The birthday as `YYYY-MM-DD`, `birthdate`; the year `0000` means that no year is given.
  public var birthdate: String?
  /// The time zone, `zoneinfo`.
  public var timeZone: String?
  /// The language tag, `locale`.
  public var locale: String?
  /// The date of the last change to the profile, in seconds since 1970, `updated_at`.
  public var updatedAt: Int?
  /// The e-mail address, `email`.
  public var email: String?
  /// Whether the server verified that the e-mail address belongs to the user, `email_verified`.
  public var isEmailVerified: Bool?
  /// The phone number, `phone_number`.
  public var phoneNumber: String?
  /// Whether the server verified that the phone number belongs to the user,
  /// `phone_number_verified`.
  public var isPhoneNumberVerified: Bool?
  /// The postal address, `address`: an object with members such as `locality`.
  public var address: SandboxJSON?
  /// Any other claims, which belong to the scope `profile`.
  ///
  /// They can be localized claims, such as `name#ja`, or `_claim_names` with `_claim_sources`.
  public var others: [SandboxJSON.Member] = []

  /// Creates a profile from names and an e-mail address; set all other claims afterwards.
  public init(
    name: String? = nil, givenName: String? = nil, familyName: String? = nil,
    preferredUserName: String? = nil, email: String? = nil, isEmailVerified: Bool? = nil
  ) {
    self.name = name
    self.givenName = givenName
    self.familyName = familyName
    self.preferredUserName = preferredUserName
    self.email = email
    self.isEmailVerified = isEmailVerified
  }

  static let alice: SandboxProfile = {
    var alice = SandboxProfile(
      name: "Alice Liddell", givenName: "Alice", familyName: "Liddell",
      preferredUserName: "alice", email: "alice@example.com", isEmailVerified: true)
    alice.nickname = "Al"
    alice.page = "https://example.com/alice"
    alice.picture = "https://example.com/alice.png"
    alice.website = "https://alice.example"
    alice.gender = "female"
    alice.birthdate = "1852-05-04"
    alice.timeZone = "Europe/London"
    alice.locale = "en-GB"
    alice.updatedAt = 1_700_000_000
    alice.phoneNumber = "+44 1632 960001"
    alice.isPhoneNumberVerified = true
    alice.address = [
      "formatted": "Christ Church\nOxford OX1 1DP\nUnited Kingdom",
      "street_address": "Christ Church", "locality": "Oxford", "region": "Oxfordshire",
      "postal_code": "OX1 1DP", "country": "United Kingdom",
    ]
    return alice
  }()

  static let bob: SandboxProfile = {
    var bob = SandboxProfile(
      name: "Bob Cratchit", givenName: "Bob", familyName: "Cratchit", preferredUserName: "bob",
      email: "bob@example.com", isEmailVerified: false)
    bob.timeZone = "Europe/London"
    bob.locale = "en-GB"
    bob.phoneNumber = "+44 1632 960002"
    bob.isPhoneNumberVerified = false
    bob.address = ["locality": "London", "country": "United Kingdom"]
    return bob
  }()
}

extension SandboxProfile {
  /// A claim and the scope that includes it.
  struct Claim {
    let scope: String
    let name: String
    let value: SandboxJSON
  }

  /// The standard claims that are texts, with their scopes and properties.
  package static var texts:
    [(scope: String, name: String, property: WritableKeyPath<SandboxProfile, String?>)]
  {
    [
      ("profile", "name", \.name), ("profile", "given_name", \.givenName),
      ("profile", "family_name", \.familyName), ("profile", "nickname", \.nickname),
      ("profile", "preferred_username", \.preferredUserName), ("profile", "profile", \.page),
      ("profile", "picture", \.picture), ("profile", "website", \.website),
      ("profile", "gender", \.gender), ("profile", "birthdate", \.birthdate),
      ("profile", "zoneinfo", \.timeZone), ("profile", "locale", \.locale),
      ("email", "email", \.email), ("phone", "phone_number", \.phoneNumber),
    ]
  }

  private typealias Entry = (scope: String, name: String, value: SandboxJSON?)

  /// The standard claims, which may have no value, and the others, grouped by scope.
  private var entries: [Entry] {
    let texts: [Entry] = Self.texts.map {
      ($0.scope, $0.name, self[keyPath: $0.property].map(SandboxJSON.string))
    }
    let rest: [Entry] = [
      ("profile", "updated_at", updatedAt.map(SandboxJSON.integer)),
      ("email", "email_verified", isEmailVerified.map(SandboxJSON.bool)),
      ("phone", "phone_number_verified", isPhoneNumberVerified.map(SandboxJSON.bool)),
      ("address", "address", address),
    ]
    let more: [Entry] = others.map { ("profile", $0.name, $0.value) }
    return ["profile", "email", "phone", "address"].flatMap { scope in
      (texts + rest + more).filter { $0.scope == scope }
    }
  }

  /// All claims that have a value, grouped by scope.
  var claims: [Claim] {
    entries.compactMap { entry in
      entry.value.map { Claim(scope: entry.scope, name: entry.name, value: $0) }
    }
  }

  /// The names of the claims that have their own property; the discovery document lists them.
  package static let standardNames = SandboxProfile().entries.map(\.name)
}

extension SandboxProfile: Redacted {
  /// A fixed text that shows no claim.
  public var description: String { "profile" }
}
