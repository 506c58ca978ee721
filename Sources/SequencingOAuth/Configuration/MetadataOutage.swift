/// The reason why an issuer's OpenID Connect document is not known, although it may exist.
struct MetadataOutage: Sendable, Hashable {
  let error: SQOAuthError

  init(_ error: SQOAuthError) {
    var error = error
    error.message =
      "the issuer's OpenID Connect metadata could not be read, so it is not known whether it has "
      + "what this call needs: \(error.message)"
    self.error = error
  }

  static func == (one: Self, other: Self) -> Bool {
    one.error.code == other.error.code && one.error.message == other.error.message
  }

  func hash(into hasher: inout Hasher) { hasher.combine(error.code) }
}
