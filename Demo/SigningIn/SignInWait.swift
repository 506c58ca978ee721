/// The time limit of a sign-in, with advice for users without a browser.
struct SignInWait: Sendable, Equatable {
  /// The maximum time that the user has for the sign-in.
  let timeout: Duration
  /// The option that changes the limit; `nil` if the command has none.
  var option: Option? = .timeout
  /// The address of the authorization server; `nil` for the built-in sandbox.
  var server: String?

  /// The time limit in words, for the end of a sentence.
  var limit: String { "within \(timeout.components.seconds) s\(change)" }

  private var change: String { option.map { " (\($0.name) changes that)" } ?? "" }

  /// The lines that are shown below the address.
  var inWords: String {
    let wait =
      "Waiting for you to sign in, \(timeout.components.seconds) s at most\(change). "
      + "Ctrl-C cancels."
    return [wait, advice].compactMap(\.self).joined(separator: "\n")
  }

  private var advice: String? {
    guard let server else {
      return "Without a browser: --browser sandbox plays the sandbox's user."
    }
    // Any server on this machine may be a sandbox: its address does not show whether it is one.
    guard EmbeddedSandbox.canBeVisited(server) else { return nil }
    return "Without a browser: if the server is a sandbox, --browser sandbox plays its user."
  }
}
