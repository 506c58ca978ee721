/// A reader of the user's token in the member `authed_user` of Slack's token responses.
enum AuthedUser {
  private static let name = "authed_user"
  /// The members that move from the user's object to the outermost object.
  private static let names = [
    "access_token", "token_type", "scope", "expires_in", "refresh_token",
  ]

  /// Returns the members of a response with the user's token in the usual place.
  ///
  /// The app's own token may be there already. All of its parts are replaced or removed, so they
  /// never mix with the parts of the user's token.
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
