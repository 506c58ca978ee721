import SQBasics
import SQFoundation

/// A cache of the servers' metadata, shared by all clients of an environment.
///
/// The SDK sends one request to an issuer, even if many clients need its endpoints at the same
/// time, and sends another request when the metadata is no longer fresh. If that request fails, the
/// known metadata stays in use. If a request fails and no metadata is known, the SDK sends the next
/// request only after the pause that the issuer asks for. The pause is at least a second if
/// strangers cause the requests; otherwise they could cause any number of requests.
///
/// A silent issuer must not stop what needs only known metadata, such as the check of a token. So
/// while one caller waits for newer metadata, the others use what is known.
package final class MetadataCache: Sendable {
  /// The name of an issuer's metadata in the cache.
  ///
  /// A client with more needs may need more documents of the issuer than other clients.
  private struct Key: Hashable, Sendable {
    let issuer: ExactText
    let needs: MetadataNeeds

    init(_ issuer: String, _ needs: MetadataNeeds) {
      self.issuer = ExactText(issuer)
      self.needs = needs
    }
  }

  private struct Known: Sendable {
    let metadata: ProviderMetadata
    /// The start of the lifetime, by the clock's steady time.
    let at: Duration
    let freshUntil: Duration
    /// Whether to fetch the metadata again because the issuer may have changed its endpoints.
    var isExpired = false
    /// The error of the last request for the metadata; `nil` if that request succeeded.
    var failure: SQOAuthError?
    /// When a caller last began to wait for newer metadata.
    var askedAt: Duration?

    /// Returns whether the metadata can be used without a new request.
    func isFresh(at now: Duration) -> Bool { !isExpired && at <= now && now < freshUntil }

    /// Returns whether to use the metadata although it is not fresh, because another caller waits
    /// for newer metadata.
    ///
    /// Endpoints that probably have changed are not used.
    func isAwaited(at now: Duration) -> Bool {
      guard let askedAt, !isExpired else { return false }
      return askedAt <= now && now < askedAt + MetadataCache.rest
    }
  }

  /// A failed request to an issuer without known metadata.
  private struct Failed: Sendable {
    let error: SQOAuthError
    let at: Duration

    /// Returns whether other callers get this error without a new request.
    func isInForce(at now: Duration, for askers: Askers) -> Bool {
      let asked = min(error.retryAfter ?? .zero, MetadataCache.longestRest)
      let rest = askers == .strangers ? max(asked, MetadataCache.strangersRest) : asked
      return at <= now && now < at + rest
    }
  }

  /// The pause after a failed request if the metadata is known.
  private static let rest = Duration.seconds(60)
  /// The shortest pause after a failed request if strangers cause the requests and no metadata is
  /// known.
  private static let strangersRest = Duration.seconds(1)
  /// The longest pause that an issuer may ask for.
  private static let longestRest = Duration.seconds(300)
  /// The largest number of issuers and of failures in memory; limited because strangers may name
  /// any issuer.
  static let limit = 1000

  private let fetches = SharedFetches<Key, Known, SQOAuthError>(limit: limit)
  private let failures = Locked(RecentValues<Key, Failed>(limit: limit))

  /// The number of failures in memory.
  var failureCount: Int { failures.withLock(\.count) }
  /// The number of issuers with known metadata.
  var knownCount: Int { fetches.count }

  /// The party that causes a request to an issuer.
  package enum Askers: Sendable {
    /// The app or its user; both may try again at once.
    case app
    /// Anyone who sends a token to a service, or opens a page of a web application.
    case strangers
  }

  /// Returns the metadata of an issuer.
  ///
  /// With `isFresh`, the metadata is fetched even if it is known, and an error of that request is
  /// thrown.
  ///
  /// A cancelled caller stops waiting. The request continues, at most until the time limit of
  /// `discovery`, so that its result is known to later callers.
  func metadata(
    by discovery: Discovery, _ client: any HTTPTransport, isFresh: Bool,
    for askers: Askers = .app
  ) async throws(SQOAuthError) -> ProviderMetadata {
    if !discovery.acceptsServersOnThisComputer {
      let url = try EndpointURL.check(discovery.issuer, name: "issuer")
      try ProviderMetadata.checkIsElsewhere(url, of: discovery.issuer)
    }
    let key = Key(discovery.issuer, discovery.needs)
    let now = discovery.clock.steadyTime
    let known = fetches.known(key)
    if known == nil, let failed = failures.withLock({ $0.use(key) }),
      failed.isInForce(at: now, for: askers)
    {
      throw failed.error
    }
    let found: Known
    if let known, !isFresh, known.isFresh(at: now) || isAwaited(key, at: now) {
      found = known
    } else {
      found = try await fetched(key, discovery, client) { !isFresh && $0.isFresh(at: now) }
    }
    if isFresh, let failure = found.failure { throw failure }
    // Another client of the issuer may accept the endpoints, so fetching does not check them.
    if !discovery.acceptsServersOnThisComputer { try found.metadata.checkIsElsewhere() }
    return found.metadata
  }

  /// Returns whether another caller waits for newer metadata; if not, this caller must do so.
  private func isAwaited(_ key: Key, at now: Duration) -> Bool {
    var isAwaited = false
    fetches.change(key) { known in
      isAwaited = known.isAwaited(at: now)
      if !isAwaited { known.askedAt = now }
    }
    return isAwaited
  }

  /// Returns the known metadata of an issuer if it is usable, or else waits for a request for it.
  private func fetched(
    _ key: Key, _ discovery: Discovery, _ client: any HTTPTransport,
    if isUsable: (Known) -> Bool
  ) async throws(SQOAuthError) -> Known {
    let found = try await fetches.value(of: key, if: isUsable) {
      [self] () throws(SQOAuthError) in
      // The response may take long, so the lifetime begins with the request.
      let asked = discovery.clock.steadyTime
      do throws(SQOAuthError) {
        let (metadata, lifetime) = try await discovery.fetch(with: client)
        failures.withLock { $0.set(key, to: nil) }
        // What the OpenID Connect document said before stays in use while it cannot be read.
        return Known(
          metadata: metadata.completed(by: fetches.known(key)?.metadata), at: asked,
          freshUntil: asked + .seconds(lifetime))
      } catch {
        let now = discovery.clock.steadyTime
        guard let known = fetches.known(key) else {
          // A cancelled request says nothing about the issuer.
          if error.code != .cancelled {
            failures.withLock { $0.set(key, to: Failed(error: error, at: now)) }
          }
          throw error
        }
        return Known(
          metadata: known.metadata, at: now, freshUntil: now + Self.rest,
          failure: error)
      }
    }
    guard let found else { throw .waitCancelled }
    return found
  }

  /// Records that an issuer may have changed its endpoints, so that the next call fetches its
  /// metadata.
  ///
  /// After a failed request for the metadata, the next call fetches it only after the usual pause.
  func expire(_ issuer: String) {
    for needs in MetadataNeeds.allCases {
      fetches.change(Key(issuer, needs)) { known in
        if known.failure == nil { known.isExpired = true }
      }
    }
  }
}

extension ClientEnvironment {
  /// Returns the metadata of an issuer, fetched if it is not in memory or not fresh.
  package func providerMetadata(
    of issuer: String, timeout: Duration, insertsWellKnownFirst: Bool = false,
    acceptsServersOnThisComputer: Bool
  ) async throws(SQOAuthError) -> ProviderMetadata {
    let discovery = Discovery(
      issuer: issuer, timeout: timeout, insertsWellKnownFirst: insertsWellKnownFirst,
      acceptsServersOnThisComputer: acceptsServersOnThisComputer, clock: clock, observer: observer)
    return try await metadata.metadata(by: discovery, transport, isFresh: false)
  }
}
