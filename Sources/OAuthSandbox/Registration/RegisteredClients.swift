import SQBasics

/// The registrations of clients that registered themselves.
struct RegisteredClients: Redacted {
  struct Entry: Redacted {
    /// The token with which the client manages its registration.
    let accessToken: String
    /// The time of the registration, in seconds since 1970.
    let issued: Int
    /// The client's own metadata, returned when the client reads its registration.
    var metadata: SandboxJSON
  }

  /// The registrations by client ID.
  var entries: [String: Entry] = [:]
}
