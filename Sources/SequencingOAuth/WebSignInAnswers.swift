import Basics

/// The redirects that are finishing sign-ins of a web application right now.
///
/// If a user reloads a blank page, or a browser tries again after a lost connection, the same
/// redirect arrives twice, and the page of the first request is never seen. So the second request
/// gets the result of the first.
final class WebSignInAnswers: Sendable {
  /// One redirect that answers a sign-in of one client.
  struct Answer: Hashable, Redacted {
    let signIn: WebSignIn
    let redirect: String
    let configuration: ClientConfiguration

    var description: String { "answer to the \(signIn)" }
  }

  private typealias Outcome = Result<AuthorizationModule, SQOAuthError>

  private let underWay = Locked<[Answer: (outcome: OneShot<Outcome>, callers: Int)]>([:])

  /// The number of callers of each answer that is under way.
  var callers: [Int] { underWay.withLock { $0.values.map(\.callers) } }

  /// Runs a body for an answer, or waits for the body that another caller runs for it.
  ///
  /// A cancelled caller still waits for the end. The code can be sent only once, so the body is not
  /// cancelled when no caller waits, unlike the work of a `SharedFetches`. When the body has ended,
  /// the answer is forgotten.
  func once(
    _ answer: Answer, _ body: () async throws(SQOAuthError) -> AuthorizationModule
  ) async throws(SQOAuthError) -> AuthorizationModule {
    let (outcome, isFirst) = underWay.withLock { underWay in
      let known = underWay[answer]
      let outcome = known?.outcome ?? OneShot<Outcome>()
      underWay[answer] = (outcome, (known?.callers ?? 0) + 1)
      return (outcome, known == nil)
    }
    guard isFirst else { return try await outcome.wait().get() }
    let result: Outcome
    do throws(SQOAuthError) {
      result = .success(try await body())
    } catch {
      result = .failure(error)
    }
    underWay.withLock { $0[answer] = nil }
    outcome.resolve(result)
    return try result.get()
  }
}
