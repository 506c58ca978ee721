import OAuthSandbox
import SQBasics
import SequencingOAuth

// The users of a configuration file, with the claims of OpenID Connect Core 1.0, section 5.1.
extension SandboxUser {
  private static let names = ["user_name", "password", "sub", "claims"]

  /// Returns the users of a file; `nil` if it names none.
  static func list(in file: ConfigObject) throws(Failure) -> [SandboxUser]? {
    var users: [SandboxUser] = []
    guard let objects = try file.objects("users", names) else { return nil }
    for object in objects {
      let user = try SandboxUser(object)
      guard !users.contains(where: { $0.name == user.name }) else {
        throw object.wrong("user_name", "is the name of an earlier user")
      }
      guard !users.contains(where: { $0.subject == user.subject }) else {
        throw object.wrong("sub", "is that of an earlier user, so apps would take both for one")
      }
      users.append(user)
    }
    guard !users.isEmpty else { throw file.wrong("users", "is empty: no user could sign in") }
    return users
  }

  private init(_ object: ConfigObject) throws(Failure) {
    let claims = object.members["claims"]
    let path = object.place("claims")
    let names = claims?.object.map { Array($0.keys) } ?? []
    let profile = try claims.map { value throws(Failure) in
      try SandboxProfile(try ConfigObject(value, at: path, names))
    }
    let name = try object.required("user_name")
    self.init(
      name: name, password: try object.required("password"), displayName: profile?.name,
      profile: profile)
    if let subject = try object.text("sub") { self.subject = subject }
    if self.profile.preferredUserName == nil { self.profile.preferredUserName = name }
  }
}

extension SandboxProfile {
  /// The claims that the sandbox makes itself for each ID token.
  private static let ownClaims: Set = [
    "iss", "sub", "aud", "exp", "iat", "nbf", "jti", "azp", "nonce", "auth_time", "acr", "amr",
    "sid", "at_hash", "c_hash",
  ]

  /// Reads the claims about a user; claims that are not standard belong to the scope `profile`.
  fileprivate init(_ claims: ConfigObject) throws(Failure) {
    self.init()
    for claim in Self.texts { self[keyPath: claim.property] = try claims.text(claim.name) }
    isEmailVerified = try claims.flag("email_verified")
    isPhoneNumberVerified = try claims.flag("phone_number_verified")
    updatedAt = try claims.number("updated_at", in: 0...253_402_300_799)
    if let address = claims.members["address"] {
      guard address.object != nil else { throw claims.wrong("address", "is not an object") }
      self.address = try SandboxJSON(address)
    }
    for (name, value) in claims.members.sorted(by: { $0.key < $1.key })
    where !Self.standardNames.contains(name) {
      guard !Self.ownClaims.contains(name) else {
        throw claims.wrong(name, "is a claim that the sandbox makes itself")
      }
      others.append(.init(name, try SandboxJSON(value)))
    }
  }
}
