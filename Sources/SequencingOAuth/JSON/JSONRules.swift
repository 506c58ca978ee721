/// The limits and the strictness for the parsing of a JSON text.
package struct JSONRules {
  var maximumBytes = Int.max
  /// The maximum nesting depth of arrays and objects.
  var maximumDepth = 32
  var maximumValues = 10_000
  /// The maximum sum of the depths of all values.
  ///
  /// Decoding a `Decodable` type takes this number of steps, because a decoder reaches each value
  /// from the outermost one.
  var maximumWeight = Int.max
  /// Whether to reject a text that two programs may understand differently.
  ///
  /// Such a text has two members of the same name in an object, or characters that must be
  /// repaired. A value that one program has checked could then differ from the value that another
  /// program uses. If only this program reads the text, such faults do no harm.
  ///
  /// - SeeAlso: RFC 7515, section 4; RFC 7519, section 4
  var isStrict = false
  /// Whether a text may begin with a byte order mark even if the rules are strict.
  ///
  /// If the rules are not strict, a byte order mark is always allowed.
  ///
  /// - SeeAlso: RFC 8259, section 8.1
  var mayHaveMark = false
  /// The members that must not occur twice in an object with different values.
  ///
  /// For any other repeated member, the first value is used.
  var decisive: Set<String> = []
  /// Whether to keep a string with more than 30 combining marks in a row, because this program has
  /// written the text.
  ///
  /// Otherwise, the string is repaired by `String.streamSafe`; if the rules are strict, the text is
  /// rejected with ``JSONFailure/tooManyMarks``. Comparing or hashing such a string may take
  /// minutes, as `String.maximumMarks` says.
  var keepsLongRuns = false
  /// Whether to read a whole number that does not fit an `Int64` as a string, its digits.
  ///
  /// Otherwise it becomes a `Double`, which may be another number, so it cannot be sent back.
  var keepsDigits = false

  /// The rules for the protocol's messages; usual messages are far below these limits.
  static let message = JSONRules(decisive: decisiveMembers)

  /// The rules for the payload of a signed text.
  static let signed = JSONRules(isStrict: true)

  /// The rules for a key set; an editor may have saved it with a byte order mark.
  static let keySet = JSONRules(isStrict: true, mayHaveMark: true)

  /// The rules for a file of settings that a person has written.
  package static let settings = JSONRules(isStrict: true, mayHaveMark: true)

  /// The rules for the header of a signed text; the limits are low, because anyone can send a
  /// header.
  static let header = JSONRules(
    maximumBytes: 16 << 10, maximumDepth: 8, maximumValues: 100, isStrict: true)

  /// The rules for an API's response; they allow far more values than an API lists at once.
  package static let answer = JSONRules(maximumValues: 500_000, maximumWeight: 2_000_000)

  /// The rules for an API's response from which a number is sent back exactly as it came.
  package static let repeatedAnswer = JSONRules(
    maximumValues: 500_000, maximumWeight: 2_000_000, keepsDigits: true)

  /// The rules for a value in a store; they are strict, because the value may be damaged.
  static let stored = JSONRules(
    maximumDepth: 512, maximumValues: .max, isStrict: true, keepsLongRuns: true)

  /// The rules for a text that this program has written.
  package static let own = JSONRules(
    maximumDepth: 512, maximumValues: .max, keepsLongRuns: true, keepsDigits: true)

  /// The members that identify users and clients, limit tokens, or set the targets of secrets.
  ///
  /// This parser uses the first of two members with the same name, but most programs use the last
  /// one. So a proxy could check a different value than this program uses.
  private static let decisiveMembers: Set = [
    // Token responses and refusals.
    "access_token", "token_type", "refresh_token", "id_token", "issued_token_type", "scope",
    "error", "authed_user", "ok", "revoked",
    // Pushed requests, keys of tokens, and the users of AT Protocol.
    "request_uri", "cnf", "jkt", "x5t#S256", "did", "id", "alsoKnownAs", "service",
    "serviceEndpoint",
    // Users, clients and tokens, and who acts for whom (RFC 8693).
    "iss", "sub", "aud", "active", "exp", "nbf", "client_id", "token_use", "typ", "scp",
    "authorization_details", "act", "may_act", "acr", "auth_time", "username", "preferred_username",
    "email", "email_verified", "phone_number", "phone_number_verified",
    // Sign-ins on another device.
    "device_code", "user_code", "verification_uri", "verification_url", "verification_uri_complete",
    // Registrations.
    "client_secret", "redirect_uris", "token_endpoint_auth_method", "registration_client_uri",
    "registration_access_token", "jwks",
    // Metadata.
    "issuer", "authorization_endpoint", "token_endpoint", "revocation_endpoint",
    "device_authorization_endpoint", "pushed_authorization_request_endpoint",
    "introspection_endpoint", "registration_endpoint", "jwks_uri", "userinfo_endpoint",
    "end_session_endpoint", "mtls_endpoint_aliases", "code_challenge_methods_supported",
    "authorization_response_iss_parameter_supported", "resource", "authorization_servers",
  ]
}
