/// How long a command waits for a person who has to open an address, and what helps without a
/// browser.
struct SignInWait: Sendable, Equatable {
  /// How long the person may take.
  let timeout: Duration
  /// The option that changes the time; `nil` where a command has none.
  var option: Option? = .timeout
  /// The address of the authorization server; `nil` for the sandbox inside the program.
  var server: String?

  /// The lines that a person reads below the address.
  var inWords: String {
    let change = option.map { " (\($0.name) changes that)" } ?? ""
    let wait =
      "Waiting for you to sign in, \(timeout.components.seconds) s at most\(change). "
      + "Ctrl-C cancels."
    return [wait, advice].compactMap(\.self).joined(separator: "\n")
  }

  private var advice: String? {
    guard let server else {
      return "Without a browser: --browser sandbox plays the sandbox's user."
    }
    // On this machine the server may be a sandbox; nothing but its pages would tell.
    guard EmbeddedSandbox.canBeVisited(server) else { return nil }
    return "Without a browser: if the server is a sandbox, --browser sandbox plays its user."
  }
}
