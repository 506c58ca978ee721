import Basics

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
final class MetadataCache: Sendable {
  private struct Known: Sendable {
    let metadata: ProviderMetadata
    let at: Date
    var freshUntil: Date
    /// Why the metadata could not be fetched again.
    var failure: SQOAuthError?

    /// Whether the metadata counts without a new request; not if the clock was moved back.
    func isFresh(at now: Date) -> Bool { at <= now && now < freshUntil }
  }

  /// A failed request for metadata that is not known.
  private struct Failed: Sendable {
    let error: SQOAuthError
    let at: Date

    /// Whether other callers get the error without a new request; not if the clock was moved back.
    func isInForce(at now: Date, for askers: Askers) -> Bool {
      let asked = min(error.retryAfter?.seconds ?? 0, MetadataCache.longestRest)
      let rest = askers == .strangers ? max(asked, MetadataCache.strangersRest) : asked
      return at <= now && now < at.addingTimeInterval(rest)
    }
  }

  /// How long the SDK waits after a request in vain while it knows the metadata, in seconds.
  private static let rest = 60.0
  /// How long strangers cause no further request if nothing is known, in seconds.
  private static let strangersRest = 1.0
  /// The longest rest that an issuer may ask for, in seconds.
  private static let longestRest = 300.0

  private let fetches = SharedFetches<ExactText, Known, SQOAuthError>()
  private let failures = Locked<[ExactText: Failed]>([:])

  /// Who makes the SDK ask an issuer.
  enum Askers: Sendable {
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
    let now = discovery.clock.now
    if fetches.known(issuer) == nil, let failed = failures.withLock({ $0[issuer] }),
      failed.isInForce(at: now, for: askers)
    {
      throw failed.error
    }
    let found = try await fetches.value(
      of: issuer, if: { !isFresh && $0.isFresh(at: now) }
    ) { [self] () throws(SQOAuthError) in
      // The answer may have been long on its way.
      let asked = discovery.clock.now
      do throws(SQOAuthError) {
        let (metadata, lifetime) = try await discovery.fetch(with: client)
        failures.withLock { $0[issuer] = nil }
        return Known(
          metadata: metadata, at: asked, freshUntil: asked.addingTimeInterval(lifetime))
      } catch {
        let now = discovery.clock.now
        guard let known = fetches.known(issuer) else {
          // A cancelled request says nothing about the issuer.
          if error.code != .cancelled {
            failures.withLock { $0[issuer] = Failed(error: error, at: now) }
          }
          throw error
        }
        return Known(
          metadata: known.metadata, at: now, freshUntil: now.addingTimeInterval(Self.rest),
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
      fetches.change(Self.key(issuer, isForIdentity: isForIdentity)) {
        $0.freshUntil = .distantPast
      }
    }
  }

  /// A client that asks for the user's identity may need more documents of an issuer than others.
  private static func key(_ issuer: String, isForIdentity: Bool) -> ExactText {
    ExactText(isForIdentity ? "openid " + issuer : issuer)
  }
}
