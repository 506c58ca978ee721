/// The result of `logout` or `revoke`, as JSON for a program.
struct EndReport: Encodable {
  /// The account's ID; `nil` if the command line named no account and the store had none.
  let account: String?
  var forgotten: Bool?
  /// The state of the logout at the provider; `nil` if none was requested.
  var providerLogout: LogoutReach?
  var revoked: Bool?
}

/// The state of a logout at the provider when the command ended.
enum LogoutReach: String, Encodable {
  /// The sandbox's simulated user has logged out.
  case done
  /// The browser shows the provider's page; the page may ask the user to confirm.
  case opened
  /// The command printed the address of the provider's page.
  case shown

  var sentence: String {
    switch self {
    case .done: "Signed out here and at the provider."
    case .opened:
      "Signed out here, and the tokens have ended. Your browser has opened the provider's "
        + "page; finish the logout there if it asks."
    case .shown:
      "Signed out here, and the tokens have ended. You are still logged in at the provider until "
        + "you open the address."
    }
  }
}
