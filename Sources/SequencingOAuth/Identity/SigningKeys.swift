import Basics

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The public keys of issuers, fetched once for all clients of an environment.
///
/// - SeeAlso: OpenID Connect Core 1.0, section 10.1.1
final class SigningKeys: Sendable {
  /// Where an issuer publishes its keys.
  struct Source: Sendable, Hashable {
    let issuer: String
    let uri: URL
    /// How long a request for the keys may take.
    let timeout: Duration

    static func == (one: Self, other: Self) -> Bool {
      one.issuer == other.issuer && one.uri == other.uri
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(issuer)
      hasher.combine(uri)
    }
  }

  private struct Fetched: Sendable {
    let keys: JSONWebKeySet
    let at: Date
    let freshUntil: Date

    /// Whether the keys count without a new request; not if the clock was moved back.
    func isFresh(at now: Date) -> Bool { at <= now && now < freshUntil }
  }

  /// How long the SDK waits after a request that brought no new key, in seconds.
  private static let rest = 60.0

  private let fetches = SharedFetches<Source, Fetched, SQOAuthError>()
  /// When the keys of an issuer were last fetched in vain.
  private let inVain = Locked<[Source: Date]>([:])

  /// The keys of an issuer; they are fetched if they are not known or no longer fresh.
  func keys(
    of source: Source, _ environment: ClientEnvironment
  ) async throws(SQOAuthError) -> JSONWebKeySet {
    let now = environment.clock.now
    return try await keys(of: source, environment) { $0.isFresh(at: now) }
  }

  /// The keys of an issuer if it has others than the given ones, which do not fit a signature.
  ///
  /// They are fetched at once, unless the last such request brought nothing new less than a minute
  /// ago: a sender of forged texts must not make the SDK ask the issuer each time.
  func keys(
    of source: Source, _ environment: ClientEnvironment, otherThan known: JSONWebKeySet
  ) async throws(SQOAuthError) -> JSONWebKeySet? {
    let now = environment.clock.now
    let last = inVain.withLock { $0[source] }
    let rests = last.map { $0 <= now && now < $0.addingTimeInterval(Self.rest) } ?? false
    let keys = try await keys(of: source, environment) { rests || $0.keys != known }
    guard keys == known else { return keys }
    if !rests { inVain.withLock { $0[source] = now } }
    return nil
  }

  private func keys(
    of source: Source, _ environment: ClientEnvironment, if isUsable: (Fetched) -> Bool
  ) async throws(SQOAuthError) -> JSONWebKeySet {
    let fetched = try await fetches.value(of: source, if: isUsable) {
      () throws(SQOAuthError) in try await Self.fetch(source, environment)
    }
    guard let fetched else { throw .waitCancelled }
    return fetched.keys
  }

  private static func fetch(
    _ source: Source, _ environment: ClientEnvironment
  ) async throws(SQOAuthError) -> Fetched {
    var request = HTTPRequest(
      url: source.uri, headers: ["Accept": "application/jwk-set+json, application/json"])
    request.timeout = source.timeout
    let response: HTTPResponse
    do throws(SQOAuthError) {
      response = try await environment.httpClient.exchange(request)
    } catch {
      var failure = error
      failure.message = "the issuer's keys could not be fetched: \(error.message)"
      throw failure
    }
    let now = environment.clock.now
    guard response.status == 200 else {
      throw .failure(of: "the address of the issuer's keys", response, now: now)
    }
    do throws(JWSFailure) {
      return Fetched(
        keys: try JSONWebKeySet(response.body), at: now,
        freshUntil: now.addingTimeInterval(HTTPFreshness.seconds(response.headers)))
    } catch {
      throw SQOAuthError(
        .invalidResponse, "the address of the issuer's keys answered with no set of keys",
        status: response.status)
    }
  }
}
