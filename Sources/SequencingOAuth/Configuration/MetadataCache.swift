import SQBasics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The metadata that discovery found, for all clients of an environment.
///
/// An issuer is asked once, however many clients need its endpoints at a time, and again when its
/// answer is no longer fresh. If that fails, the known metadata stays in use. If none is known, an
/// issuer that fails is left alone for as long as it asks, and for a second if strangers make the
/// SDK ask: anyone may send a token to a service.
package final class MetadataCache: Sendable {
  private struct Known: Sendable {
    let metadata: ProviderMetadata
    /// When the issuer was asked, and how long the metadata is fresh, by the clock's steady time.
    let at: Duration
    let freshUntil: Duration
    /// Whether the issuer may have other endpoints by now.
    var isExpired = false
    /// Why the metadata could not be fetched again.
    var failure: SQOAuthError?

    /// Whether the metadata counts without a new request.
    func isFresh(at now: Duration) -> Bool { !isExpired && at <= now && now < freshUntil }
  }

  /// A failed request for metadata that is not known.
  private struct Failed: Sendable {
    let error: SQOAuthError
    let at: Duration

    /// Whether other callers get the error without a new request.
    func isInForce(at now: Duration, for askers: Askers) -> Bool {
      let asked = min(error.retryAfter ?? .zero, MetadataCache.longestRest)
      let rest = askers == .strangers ? max(asked, MetadataCache.strangersRest) : asked
      return at <= now && now < at + rest
    }
  }

  /// How long the SDK waits after a request in vain while it knows the metadata.
  private static let rest = Duration.seconds(60)
  /// How long strangers cause no further request if nothing is known.
  private static let strangersRest = Duration.seconds(1)
  /// The longest rest that an issuer may ask for.
  private static let longestRest = Duration.seconds(300)
  /// How many issuers are remembered, and how many failures: strangers may name any.
  static let limit = 1000

  private let fetches = SharedFetches<ExactText, Known, SQOAuthError>(limit: limit)
  private let failures = Locked(RecentValues<ExactText, Failed>(limit: limit))

  /// How many failures are remembered.
  var failureCount: Int { failures.withLock(\.count) }
  /// How many issuers' metadata is remembered.
  var knownCount: Int { fetches.count }

  /// Who makes the SDK ask an issuer.
  package enum Askers: Sendable {
    /// The app and its user, who may try again at once.
    case app
    /// Anyone who sends a token to a service, or opens a page of a web application.
    case strangers
  }

  /// Returns the metadata of an issuer; with `isFresh` it is fetched even if it is known.
  ///
  /// A cancelled caller stops waiting; when no caller waits any more, the request is cancelled.
  func metadata(
    by discovery: Discovery, _ client: any HTTPClient, isFresh: Bool,
    for askers: Askers = .app
  ) async throws(SQOAuthError) -> ProviderMetadata {
    let issuer = Self.key(discovery.issuer, isForIdentity: discovery.isForIdentity)
    let now = discovery.clock.steadyTime
    if fetches.known(issuer) == nil, let failed = failures.withLock({ $0.use(issuer) }),
      failed.isInForce(at: now, for: askers)
    {
      throw failed.error
    }
    let found = try await fetches.value(
      of: issuer, if: { !isFresh && $0.isFresh(at: now) }
    ) { [self] () throws(SQOAuthError) in
      // The answer may have been long on its way.
      let asked = discovery.clock.steadyTime
      do throws(SQOAuthError) {
        let (metadata, lifetime) = try await discovery.fetch(with: client)
        failures.withLock { $0.set(issuer, to: nil) }
        return Known(
          metadata: metadata, at: asked, freshUntil: asked + .seconds(lifetime))
      } catch {
        let now = discovery.clock.steadyTime
        guard let known = fetches.known(issuer) else {
          // A cancelled request says nothing about the issuer.
          if error.code != .cancelled {
            failures.withLock { $0.set(issuer, to: Failed(error: error, at: now)) }
          }
          throw error
        }
        return Known(
          metadata: known.metadata, at: now, freshUntil: now + Self.rest,
          failure: error)
      }
    }
    guard let found else { throw .waitCancelled }
    if isFresh, let failure = found.failure { throw failure }
    return found.metadata
  }

  /// Notes that an issuer may have other endpoints by now: the next call asks for its metadata.
  func expire(_ issuer: String) {
    for isForIdentity in [false, true] {
      fetches.change(Self.key(issuer, isForIdentity: isForIdentity)) { $0.isExpired = true }
    }
  }

  /// A client that asks for the user's identity may need more documents of an issuer than others.
  private static func key(_ issuer: String, isForIdentity: Bool) -> ExactText {
    ExactText(isForIdentity ? "openid " + issuer : issuer)
  }
}
