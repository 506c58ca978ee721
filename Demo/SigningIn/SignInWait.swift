/// The time for which a command waits for the user to open an address, with advice for users
/// without a browser.
struct SignInWait: Sendable, Equatable {
  /// The longest time that the user may take.
  let timeout: Duration
  /// The option that changes the time; `nil` if the command has none.
  var option: Option? = .timeout
  /// The address of the authorization server; `nil` for the sandbox inside the program.
  var server: String?

  /// The longest time, in words that go on with a sentence.
  var limit: String { "within \(timeout.components.seconds) s\(change)" }

  private var change: String { option.map { " (\($0.name) changes that)" } ?? "" }

  /// The lines below the address.
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
    // A server on this machine may be a sandbox; only its pages would show that.
    guard EmbeddedSandbox.canBeVisited(server) else { return nil }
    return "Without a browser: if the server is a sandbox, --browser sandbox plays its user."
  }
}
