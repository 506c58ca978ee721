import SQBasics

/// What the sandbox keeps of the clients that registered themselves.
struct RegisteredClients: Redacted {
  struct Entry: Redacted {
    /// The token by which the client manages its registration.
    let accessToken: String
    /// The members of the answer that the client itself has chosen.
    var metadata: SandboxJSON
  }

  /// The entries by the identifiers of their clients.
  var entries: [String: Entry] = [:]
}
