/// The result of `logout` or `revoke`, as JSON for a program.
struct EndReport: Encodable {
  /// The account; `nil` if the command named none and the store had none.
  let account: String?
  var forgotten: Bool?
  /// How far a logout at the provider came; `nil` if none was asked for.
  var providerLogout: LogoutReach?
  var revoked: Bool?
}

/// How far a logout at the provider came by the time that the command ended.
enum LogoutReach: String, Encodable {
  /// The sandbox's visitor has logged out.
  case done
  /// The browser has the provider's page, which may ask the user.
  case opened
  /// The user has the address of that page.
  case shown

  var sentence: String {
    switch self {
    case .done: "Signed out here and at the provider."
    case .opened:
      "Signed out here, and the tokens have ended. Your browser shows the provider's page; finish "
        + "the logout there if it asks."
    case .shown:
      "Signed out here, and the tokens have ended. You are still logged in at the provider until "
        + "you open the address."
    }
  }
}
