/// The member `authed_user` of Slack's token responses, which has a user's token.
enum AuthedUser {
  private static let name = "authed_user"
  /// The members of a token response that the user's object may have.
  private static let names = [
    "access_token", "token_type", "scope", "expires_in", "refresh_token",
  ]

  /// Returns the members of a response with the user's token in the usual place.
  ///
  /// The token beside it is that of the app. None of its parts are mixed with the user's.
  static func lifted(_ members: [String: JSONValue]) -> [String: JSONValue] {
    guard let user = members[name]?.object, user["access_token"]?.string != nil else {
      return members
    }
    var lifted = members
    var rest = user
    for part in names { lifted[part] = rest.removeValue(forKey: part) }
    lifted[name] = .object(rest)
    return lifted
  }
}
