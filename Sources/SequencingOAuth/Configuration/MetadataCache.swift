import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The metadata that discovery found, for all clients of an environment.
///
/// An issuer is asked once, however many clients need its endpoints at a time, and again when its
/// answer is no longer fresh. If that fails, the known metadata stays in use.
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

  /// How long the SDK waits after a request in vain while it knows the metadata, in seconds.
  private static let rest = 60.0

  private let fetches = SharedFetches<ExactText, Known, SQOAuthError>()

  /// Returns the metadata of an issuer; with `isFresh` it is fetched even if it is known.
  ///
  /// A cancelled caller stops waiting; when no caller waits any more, the request is cancelled.
  func metadata(
    by discovery: Discovery, _ client: any HTTPClient, isFresh: Bool
  ) async throws(SQOAuthError) -> ProviderMetadata {
    let now = discovery.clock.now
    let found = try await fetches.value(
      of: ExactText(discovery.issuer), if: { !isFresh && $0.isFresh(at: now) }
    ) { [fetches] () throws(SQOAuthError) in
      do throws(SQOAuthError) {
        let (metadata, lifetime) = try await discovery.fetch(with: client)
        let now = discovery.clock.now
        return Known(metadata: metadata, at: now, freshUntil: now.addingTimeInterval(lifetime))
      } catch {
        guard let known = fetches.known(ExactText(discovery.issuer)) else { throw error }
        let now = discovery.clock.now
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
    fetches.change(ExactText(issuer)) { $0.freshUntil = .distantPast }
  }
}
