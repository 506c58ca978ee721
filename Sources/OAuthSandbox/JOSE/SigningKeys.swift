import SQBasics

/// A sandbox's signing keys: one per algorithm, created on first use.
struct SigningKeys: Redacted {
  /// The first keys of every sandbox in this process.
  ///
  /// They are shared because a new RSA key takes a tenth of a second, and an app's tests start
  /// hundreds of sandboxes.
  private static let firstKeys = Locked<[SandboxSigningAlgorithm: SigningKey]>([:])

  /// The keys that sign now, by algorithm.
  private var current: [SandboxSigningAlgorithm: SigningKey] = [:]
  /// The keys in the key set, oldest first.
  private(set) var published: [SigningKey] = []

  /// Returns the current key for an algorithm, and creates the key on first use.
  ///
  /// The algorithm must not be an HMAC.
  mutating func key(for algorithm: SandboxSigningAlgorithm) -> SigningKey {
    if let key = current[algorithm] { return key }
    let key = Self.firstKeys.withLock { keys in
      let key = keys[algorithm] ?? SigningKey(generating: algorithm)
      keys[algorithm] = key
      return key
    }
    sign(with: key)
    return key
  }

  private mutating func sign(with key: SigningKey) {
    current[key.algorithm] = key
    published.append(key)
  }

  /// Adds a key to the key set without signing with it.
  mutating func publish(_ key: SigningKey) {
    published.append(key)
  }

  /// Replaces the signing keys with new ones, and keeps the old ones in the key set if `keepsOld`.
  mutating func rotate(keepsOld: Bool) {
    let algorithms = SandboxSigningAlgorithm.allCases.filter { current[$0] != nil }
    current = [:]
    if !keepsOld { published = [] }
    for algorithm in algorithms { sign(with: SigningKey(generating: algorithm)) }
  }
}

extension SandboxState {
  /// Returns the key that signs for a client: its secret for an HMAC, otherwise the sandbox's own
  /// key.
  ///
  /// Returns `nil` if the algorithm is an HMAC and the client has no secret.
  mutating func signingKey(
    _ algorithm: SandboxSigningAlgorithm, for client: SandboxClient
  ) -> SigningKey? {
    guard algorithm.usesSecret else { return keys.key(for: algorithm) }
    return client.secret.flatMap { $0.isEmpty ? nil : SigningKey(secret: $0, algorithm: algorithm) }
  }
}
