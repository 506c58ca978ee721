import SQFoundation

/// The individual claims that a sign-in requests, for the ID token and the UserInfo response.
///
/// - SeeAlso: OpenID Connect Core 1.0, section 5.5
public struct ClaimsRequest: Sendable, Hashable {
  /// A request for one claim.
  public struct Claim: Sendable, Hashable {
    /// Whether the app needs the claim for the user's current task.
    ///
    /// The provider may omit the claim nevertheless.
    public let isEssential: Bool
    /// The values that the app wants for the claim; empty if any value is fine.
    public let values: [JSONValue]

    /// A request for a claim that is useful but not necessary.
    public static let voluntary = Self(isEssential: false, values: [])
    /// A request for a claim that the app needs.
    public static let essential = Self(isEssential: true, values: [])

    /// Returns a request for a claim that is not essential and should have one of these values.
    public static func voluntary(values: [JSONValue]) -> Self {
      Self(isEssential: false, values: values)
    }

    /// Returns a request for a necessary claim that must have one of these values.
    ///
    /// If the claim is the `acr` of the ID token, a sign-in with any other value fails with
    /// ``SQOAuthError/Code/idTokenAuthenticationContext``.
    public static func essential(values: [JSONValue]) -> Self {
      Self(isEssential: true, values: values)
    }

    fileprivate var json: JSONValue {
      var members: [String: JSONValue] = isEssential ? ["essential": true] : [:]
      if values.count == 1 { members["value"] = values[0] }
      if values.count > 1 { members["values"] = .array(values) }
      return members.isEmpty ? .null : .object(members)
    }
  }

  /// The requested claims in the ID token, by name.
  public var idToken: [String: Claim]
  /// The requested claims in the UserInfo response, by name.
  public var userInfo: [String: Claim]

  /// Creates a request for claims.
  public init(idToken: [String: Claim] = [:], userInfo: [String: Claim] = [:]) {
    self.idToken = idToken
    self.userInfo = userInfo
  }

  /// The values of `acr` that the ID token may have; empty to accept any value.
  var essentialContexts: [String] {
    guard let claim = idToken["acr"], claim.isEssential else { return [] }
    return claim.values.compactMap(\.string)
  }

  /// Returns the parameter `claims`; `nil` if no claim is requested.
  func json() throws(SQOAuthError) -> String? {
    var members: [String: JSONValue] = [:]
    if !idToken.isEmpty { members["id_token"] = .object(idToken.mapValues(\.json)) }
    if !userInfo.isEmpty { members["userinfo"] = .object(userInfo.mapValues(\.json)) }
    guard !members.isEmpty else { return nil }
    return try JSONValue.object(members).jsonText("the requested claims")
  }
}
