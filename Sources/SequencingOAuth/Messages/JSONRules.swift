/// What a JSON text may be, and what it may cost.
package struct JSONRules {
  var maximumBytes = Int.max
  /// How deep arrays and objects may stand in each other.
  var maximumDepth = 32
  var maximumValues = 10_000
  /// The largest sum of the depths of all values.
  ///
  /// A `Decodable` type is decoded in so many steps, since a decoder comes to each value from the
  /// outermost one.
  var maximumWeight = Int.max
  /// Whether a text is refused that two programs may read differently.
  ///
  /// Such a text has two members of one name in an object, or characters that must be repaired. What
  /// one program checked, another may then use in another sense. A text that goes from its server to
  /// this program alone may have such faults.
  ///
  /// - SeeAlso: RFC 7515, section 4; RFC 7519, section 4
  var isStrict = false
  /// Whether a mark for the order of bytes may begin a strict text; any other text may have one.
  ///
  /// - SeeAlso: RFC 8259, section 8.1
  var mayHaveMark = false
  /// The members of the outermost object that must not come twice with different values.
  ///
  /// Of any other member that comes twice the first one counts.
  var decisive: Set<String> = []

  /// A message of the protocol; none comes near these limits.
  static let message = JSONRules(decisive: decisiveMembers)

  /// A signed text's payload.
  static let signed = JSONRules(isStrict: true)

  /// A set of keys; some are files that an editor has saved with a mark.
  static let keySet = JSONRules(isStrict: true, mayHaveMark: true)

  /// The header of a signed text, which anyone can send.
  static let header = JSONRules(
    maximumBytes: 16 << 10, maximumDepth: 8, maximumValues: 100, isStrict: true)

  /// An answer of an API: far more values than an API lists at once.
  package static let answer = JSONRules(maximumValues: 500_000, maximumWeight: 2_000_000)

  /// What this program wrote itself.
  package static let own = JSONRules(maximumDepth: 512, maximumValues: .max)

  /// The members that say who a user or a client is, what a token may do, and where secrets go.
  ///
  /// Most programs read the later of two members. What a proxy has checked must be what this program
  /// uses.
  private static let decisiveMembers: Set = [
    // Token responses and refusals.
    "access_token", "token_type", "refresh_token", "id_token", "issued_token_type", "scope",
    "error",
    // Users, clients and tokens.
    "iss", "sub", "aud", "active", "exp", "nbf", "client_id", "token_use", "typ",
    "email", "email_verified", "phone_number", "phone_number_verified",
    // Sign-ins on another device.
    "device_code", "user_code", "verification_uri", "verification_url", "verification_uri_complete",
    // Registrations.
    "client_secret", "redirect_uris", "token_endpoint_auth_method", "registration_client_uri",
    "registration_access_token",
    // Metadata.
    "issuer", "authorization_endpoint", "token_endpoint", "revocation_endpoint",
    "device_authorization_endpoint", "introspection_endpoint", "registration_endpoint", "jwks_uri",
    "userinfo_endpoint", "end_session_endpoint", "code_challenge_methods_supported",
    "authorization_response_iss_parameter_supported",
  ]
}
