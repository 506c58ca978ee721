import SQBasics

/// The registration of a client that registered itself.
struct RegisteredClient: Redacted {
  /// The token with which the client manages its registration.
  let accessToken: String
  /// The time of the registration, in seconds since 1970.
  let issued: Int
  /// The client's metadata, which each answer about the registration contains.
  var metadata: SandboxJSON
}
