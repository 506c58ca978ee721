import SQBasics
import SQFoundation

/// A cache of the issuers' public keys, shared by all clients of an environment.
///
/// While an issuer cannot be reached, its known keys stay in use for a day. If a JWT names an
/// unknown key, the SDK fetches the keys again. If that brings no new keys, the SDK waits a minute
/// before the next request, or up to five minutes if the issuer asks for a pause. Otherwise each
/// forged JWT could cause a request.
///
/// - SeeAlso: OpenID Connect Core 1.0, section 10.1.1
final class SigningKeys: Sendable {
  /// The last request to an issuer, if it returned no new keys.
  private struct FruitlessFetch: Sendable {
    var at: Duration
    /// The reason why the request failed; `nil` if the response had the same keys as before.
    let failure: SQOAuthError?

    /// The pause before the next request to the issuer.
    var rest: Duration {
      min(max(failure?.retryAfter ?? .zero, .seconds(60)), SigningKeys.longestRest)
    }

    /// Returns whether the request was made less than `time` ago.
    func isRecent(_ time: Duration, at now: Duration) -> Bool { at <= now && now < at + time }
  }

  /// The longest pause that an issuer may ask for.
  ///
  /// It is the shortest lifetime of fetched keys. A longer pause could hide a new or withdrawn key.
  private static let longestRest = Duration.seconds(300)
  /// How long other callers get the error of a failed request, instead of a new request, if no
  /// known keys can be used.
  ///
  /// It is short, so that a user who tries again is not rejected after the server has recovered.
  private static let sharedFailure = Duration.seconds(1)

  private let fetches = SharedFetches<Source, Fetched, SQOAuthError>()
  /// The last unsuccessful request to each issuer.
  ///
  /// The number of issuers has the same limit as in `SharedFetches`, because strangers can name any
  /// issuer.
  private let fruitless = Locked(RecentValues<Source, FruitlessFetch>(limit: 1000))

  /// Returns the keys of an issuer, fetched if they are not in memory or not fresh.
  ///
  /// With `isAhead` no caller needs the keys yet. So if a request fails and no keys are known,
  /// later callers do not get its error.
  func keys(
    of source: Source, _ environment: ClientEnvironment, isAhead: Bool = false
  ) async throws(SQOAuthError) -> JSONWebKeySet {
    let now = environment.clock.steadyTime
    let known = fetches.known(source)
    if let known, known.isFresh(at: now) { return known.keys }
    let last = fruitless.withLock { $0.use(source) }
    let isOut = last.map { $0.failure?.isOutage == true && $0.isRecent($0.rest, at: now) } ?? false
    let isUsable = { @Sendable (known: Fetched) in
      known.isFresh(at: now) || isOut && known.survivesOutage(at: now)
    }
    if let known, isUsable(known) { return known.keys }
    if let last, let failure = last.failure, last.isRecent(Self.sharedFailure, at: now) {
      throw failure
    }
    // In an outage one caller tries the issuer again, and the others do not wait for it.
    if last?.failure?.isOutage == true, known?.survivesOutage(at: now) == true {
      fruitless.withLock { $0.change(source) { $0.at = now } }
    }
    do throws(SQOAuthError) {
      return try await fetched(source, environment, notesFailure: !isAhead, if: isUsable)
    } catch {
      guard error.isOutage, let known = fetches.known(source),
        known.survivesOutage(at: environment.clock.steadyTime)
      else { throw error }
      return known.keys
    }
  }

  /// Returns the issuer's newer keys after the `known` keys did not match a signature; `nil` if
  /// there are none.
  ///
  /// They are fetched at once, except during the pause after a request that brought no new keys. If
  /// anyone could have sent the text, a failed request counts as a request without new keys. If the
  /// issuer itself sent the text, its key is probably new. Then the error of a failed request is
  /// thrown, and the next request may follow a second later.
  func keys(
    of source: Source, _ environment: ClientEnvironment, otherThan known: JSONWebKeySet,
    isFromIssuer: Bool
  ) async throws(SQOAuthError) -> JSONWebKeySet? {
    let now = environment.clock.steadyTime
    if let last = fruitless.withLock({ $0.use(source) }) {
      let isUrgent = isFromIssuer && last.failure != nil
      if last.isRecent(isUrgent ? Self.sharedFailure : last.rest, at: now) {
        if let current = fetches.known(source)?.keys, current != known { return current }
        if isUrgent, let failure = last.failure { throw failure }
        return nil
      }
    }
    do throws(SQOAuthError) {
      let keys = try await fetched(source, environment, isExtra: true) { $0.keys != known }
      return keys == known ? nil : keys
    } catch {
      guard !isFromIssuer, error.code != .cancelled else { throw error }
      return nil
    }
  }

  private func fetched(
    _ source: Source, _ environment: ClientEnvironment, isExtra: Bool = false,
    notesFailure: Bool = true, if isUsable: (Fetched) -> Bool
  ) async throws(SQOAuthError) -> JSONWebKeySet {
    let fetched = try await fetches.value(of: source, if: isUsable) {
      [self] () throws(SQOAuthError) in
      let known = fetches.known(source)
      do throws(SQOAuthError) {
        let new = try await source.fetch(environment)
        let isFruitless = isExtra && new.keys == known?.keys
        fruitless.withLock {
          $0.set(source, to: isFruitless ? FruitlessFetch(at: new.at, failure: nil) : nil)
        }
        return new
      } catch {
        // A cancelled request says nothing about the issuer.
        if error.code != .cancelled, !error.isOutage {
          fetches.change(source) { $0.isWithdrawn = true }
        }
        if error.code != .cancelled, notesFailure || known != nil {
          let failed = FruitlessFetch(at: environment.clock.steadyTime, failure: error)
          fruitless.withLock { $0.set(source, to: failed) }
        }
        throw error
      }
    }
    guard let fetched else { throw .waitCancelled }
    return fetched.keys
  }
}
