import TestSupport

/// The actions of a user on glewlwyd's pages.
extension Browser {
  /// Fills in the login page, and sends it.
  package func logInToGlewlwyd(as user: Glewlwyd.User) async throws {
    try await type(user.rawValue, into: "#username")
    try await type(user.password, into: "#password")
    try await click("#loginbut")
  }

  /// Selects scopes on the consent page, grants them, and continues to the application.
  package func consentOnGlewlwyd(to scopes: [String]) async throws {
    for scope in scopes { try await click("#grant-\(scope)") }
    try await click("button.btn-primary")
    try await click("button.btn-success")
  }

  /// Grants nothing on the consent page, and returns when the server has answered.
  ///
  /// glewlwyd then shows the consent page again: it never sends the user back with an error.
  package func refuseConsentOnGlewlwyd() async throws {
    try await wait(for: "input[id^=grant-]")
    let before = try await grantRequests
    try await click("button.btn-primary")
    try await eventually("glewlwyd takes the refusal") { try await self.grantRequests > before }
    try await wait(for: "input[id^=grant-]")
  }

  /// The number of the page's consent requests that were answered.
  private var grantRequests: Int {
    get async throws {
      try await run(
        """
        return performance.getEntriesByType("resource")
          .filter((entry) => entry.name.includes("/auth/grant/")).length
        """, as: Int.self)
    }
  }
}
