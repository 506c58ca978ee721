import Basics

/// The metadata that discovery found, for all clients of an environment.
///
/// An issuer is asked once, however many clients need its endpoints at a time.
final class MetadataCache: Sendable {
  private let fetches = SharedFetches<String, ProviderMetadata, SQOAuthError>()

  /// Returns the metadata of an issuer; with `isFresh` it is fetched even if it is known.
  ///
  /// A cancelled caller stops waiting; when no caller waits any more, the request is cancelled.
  func metadata(
    by discovery: Discovery, _ client: any HTTPClient, isFresh: Bool
  ) async throws(SQOAuthError) -> ProviderMetadata {
    let found = try await fetches.value(of: discovery.issuer, if: { _ in !isFresh }) {
      () throws(SQOAuthError) in try await discovery.fetch(with: client)
    }
    guard let found else { throw .waitCancelled }
    return found
  }

  /// Forgets the metadata of an issuer, whose endpoints may have changed.
  func forget(_ issuer: String) {
    fetches.forget(issuer)
  }
}
