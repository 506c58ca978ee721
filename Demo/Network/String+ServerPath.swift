// Addresses of the command line, which may be paths at an account's server.
extension String {
  /// Whether the text is a path at an account's server, and not a URL.
  var isServerPath: Bool { hasPrefix("/") && !hasPrefix("//") }

  /// The text as a URL that can be checked.
  ///
  /// The server of a path is not known yet, so `localhost` stands in for it.
  var checkableURL: String { isServerPath ? "https://localhost" + self : self }
}
