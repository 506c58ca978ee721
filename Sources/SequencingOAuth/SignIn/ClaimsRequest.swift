#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The claims that a sign-in asks for by name, for the ID token and for the UserInfo response.
///
/// - SeeAlso: OpenID Connect Core 1.0, section 5.5
public struct ClaimsRequest: Sendable, Hashable {
  /// What the app wants to know about one claim.
  public struct Claim: Sendable, Hashable {
    /// Whether the app needs the claim for what the user wants to do.
    ///
    /// The provider may leave it out nevertheless.
    public let isEssential: Bool
    /// The values of which the claim should have one; empty if any value will do.
    public let values: [JSONValue]

    /// A claim that the app would like to have.
    public static let voluntary = Self(isEssential: false, values: [])
    /// A claim that the app needs.
    public static let essential = Self(isEssential: true, values: [])

    /// A claim that should have one of these values.
    public static func voluntary(values: [JSONValue]) -> Self {
      Self(isEssential: false, values: values)
    }

    /// A claim that the app needs with one of these values.
    ///
    /// If the claim is the `acr` of the ID token, a sign-in that brings another value fails with
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

  /// The claims for the ID token, by their names.
  public var idToken: [String: Claim]
  /// The claims for the UserInfo response, by their names.
  public var userInfo: [String: Claim]

  /// Makes a request for claims.
  public init(idToken: [String: Claim] = [:], userInfo: [String: Claim] = [:]) {
    self.idToken = idToken
    self.userInfo = userInfo
  }

  /// The values of `acr` of which the ID token must have one; empty if any will do.
  var essentialContexts: [String] {
    guard let claim = idToken["acr"], claim.isEssential else { return [] }
    return claim.values.compactMap(\.string)
  }

  /// The parameter `claims`; `nil` if no claim is asked for.
  func json() throws(SQOAuthError) -> String? {
    var members: [String: JSONValue] = [:]
    if !idToken.isEmpty { members["id_token"] = .object(idToken.mapValues(\.json)) }
    if !userInfo.isEmpty { members["userinfo"] = .object(userInfo.mapValues(\.json)) }
    guard !members.isEmpty else { return nil }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return String(decoding: try encoder.encode(JSONValue.object(members)), as: UTF8.self)
    } catch {
      throw SQOAuthError(
        .invalidConfiguration, "the claims to ask for cannot be written as JSON", cause: error)
    }
  }
}
