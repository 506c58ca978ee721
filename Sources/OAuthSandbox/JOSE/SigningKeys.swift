import SQBasics

/// The keys of a sandbox: one for each algorithm, from when it is first needed.
struct SigningKeys: Redacted {
  /// The keys with which every sandbox of the process begins.
  ///
  /// A new RSA key takes a tenth of a second, and the tests of an app start hundreds of sandboxes.
  private static let firstKeys = Locked<[SandboxSigningAlgorithm: SigningKey]>([:])

  /// The keys that sign now.
  private var current: [SandboxSigningAlgorithm: SigningKey] = [:]
  /// The keys that the key set contains, the oldest first.
  private(set) var published: [SigningKey] = []

  /// The key for an algorithm other than an HMAC.
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

  /// Adds a key that signs nothing by itself to the key set.
  mutating func publish(_ key: SigningKey) {
    published.append(key)
  }

  /// Lets new keys sign from now on; the old ones may stay in the key set.
  mutating func rotate(keepsOld: Bool) {
    let algorithms = SandboxSigningAlgorithm.allCases.filter { current[$0] != nil }
    current = [:]
    if !keepsOld { published = [] }
    for algorithm in algorithms { sign(with: SigningKey(generating: algorithm)) }
  }
}

extension SandboxState {
  /// The key that signs for a client: its secret for an HMAC, and otherwise the sandbox's own key.
  mutating func signingKey(
    _ algorithm: SandboxSigningAlgorithm, for client: SandboxClient
  ) -> SigningKey? {
    guard algorithm.usesSecret else { return keys.key(for: algorithm) }
    return client.secret.flatMap { $0.isEmpty ? nil : SigningKey(secret: $0, algorithm: algorithm) }
  }
}
