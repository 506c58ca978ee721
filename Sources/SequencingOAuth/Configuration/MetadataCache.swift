import Basics

/// The metadata that discovery found, for all clients of an environment.
///
/// An issuer is asked once, however many clients need its endpoints at a time.
final class MetadataCache: Sendable {
  private typealias Work = SharedWork<ProviderMetadata, SQOAuthError>

  private struct Fetch {
    let work = Work()
    var waiters: Int
  }

  private enum Step {
    case use(ProviderMetadata)
    case join(Work)
    case start(Work)
  }

  private struct State {
    var found: [String: ProviderMetadata] = [:]
    var underWay: [String: Fetch] = [:]

    mutating func step(_ issuer: String, isFresh: Bool) -> Step {
      if !isFresh, let known = found[issuer] { return .use(known) }
      if var fetch = underWay[issuer] {
        fetch.waiters += 1
        underWay[issuer] = fetch
        return .join(fetch.work)
      }
      let fetch = Fetch(waiters: 1)
      underWay[issuer] = fetch
      return .start(fetch.work)
    }
  }

  private let state = Locked(State())

  /// Returns the metadata of an issuer; with `isFresh` it is fetched even if it is known.
  ///
  /// A cancelled caller stops waiting; when no caller waits any more, the request is cancelled.
  func metadata(
    by discovery: Discovery, _ client: any HTTPClient, isFresh: Bool
  ) async throws(SQOAuthError) -> ProviderMetadata {
    let issuer = discovery.issuer
    let work: Work
    switch state.withLock({ $0.step(issuer, isFresh: isFresh) }) {
    case .use(let metadata):
      return metadata
    case .join(let fetch):
      work = fetch
    case .start(let fetch):
      work = fetch
      fetch.start(here: true) {
        let outcome: Work.Outcome
        do throws(SQOAuthError) {
          outcome = .success(try await discovery.fetch(with: client))
        } catch {
          outcome = .failure(error)
        }
        self.end(issuer, fetch, outcome)
      }
    }
    guard let outcome = await work.outcome.value() else {
      leave(issuer, work)
      throw .waitCancelled
    }
    return try outcome.get()
  }

  /// Forgets the metadata of an issuer, whose endpoints may have changed.
  func forget(_ issuer: String) {
    state.withLock { $0.found[issuer] = nil }
  }

  private func end(_ issuer: String, _ work: Work, _ outcome: Work.Outcome) {
    state.withLock { state in
      guard state.underWay[issuer]?.work === work else { return }
      state.underWay[issuer] = nil
      if case .success(let metadata) = outcome { state.found[issuer] = metadata }
    }
    work.outcome.resolve(outcome)
  }

  private func leave(_ issuer: String, _ work: Work) {
    let isAbandoned = state.withLock { state in
      guard state.underWay[issuer]?.work === work else { return false }
      state.underWay[issuer]?.waiters -= 1
      guard state.underWay[issuer]?.waiters == 0 else { return false }
      state.underWay[issuer] = nil
      return true
    }
    if isAbandoned { work.cancel() }
  }
}
