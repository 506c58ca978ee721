import SQBasics
import SQFoundation

extension SigningKeys {
  /// The address at which an issuer publishes its keys.
  struct Source: Sendable, Hashable {
    let issuer: String
    let uri: URL
    /// The time limit of a request for the keys.
    let timeout: Duration

    static func == (one: Self, other: Self) -> Bool {
      one.issuer == other.issuer && one.uri == other.uri
    }

    // The issuer is enough, because it has one address, and hashing a URL is slow.
    func hash(into hasher: inout Hasher) { hasher.combine(ExactText(issuer)) }
  }

  /// The keys of an issuer from one response.
  struct Fetched: Sendable {
    let keys: JSONWebKeySet
    /// The time of the response, by the clock's steady time.
    let at: Duration
    let freshUntil: Duration
    /// Whether the issuer has since sent a response without usable keys.
    var isWithdrawn = false

    /// How long keys that are no longer fresh stay in use while the issuer cannot be reached.
    private static let outage = Duration.seconds(86_400)

    /// Returns whether the keys can be used without a new request.
    func isFresh(at now: Duration) -> Bool { at <= now && now < freshUntil }

    /// Returns whether the keys can be used while the issuer cannot be reached.
    func survivesOutage(at now: Duration) -> Bool {
      !isWithdrawn && at <= now && now < freshUntil + Self.outage
    }
  }
}

extension SigningKeys.Source {
  /// Fetches the issuer's keys.
  func fetch(_ environment: ClientEnvironment) async throws(SQOAuthError) -> SigningKeys.Fetched {
    var request = WebRequest(
      url: uri, headers: ["Accept": "application/jwk-set+json, application/json"])
    request.timeout = timeout
    // The keys' freshness counts from the request, because the response may take long.
    let asked = environment.clock.steadyTime
    let response: WebResponse
    do throws(SQOAuthError) {
      response = try await environment.exchange(request, for: .keys)
    } catch {
      var failure = error
      failure.message = "the issuer's keys could not be fetched: \(error.message)"
      throw failure
    }
    let now = environment.clock.now
    guard response.status == 200 else {
      throw .failure(
        of: "the address of the issuer's keys", response, now: now, removing: SentSecrets([]))
    }
    do throws(JWSFailure) {
      return SigningKeys.Fetched(
        keys: try JSONWebKeySet(response.body), at: environment.clock.steadyTime,
        freshUntil: asked + .seconds(HTTPFreshness.seconds(response.headers)))
    } catch {
      let fault =
        if case .malformed(let reason) = error {
          "an unusable set of keys: \(reason)"
        } else {
          "a set of keys above the SDK's limits: \(JSONWebKeySet.maximumKeys) usable keys and 1 MiB"
        }
      throw SQOAuthError(
        .invalidResponse, "the address of the issuer's keys answered with \(fault)",
        status: response.status)
    }
  }
}
