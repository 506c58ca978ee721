import SQBasics

/// The answers with which sign-ins of a web application are being finished.
///
/// A user who reloads a blank page, or a browser that tries again after a lost connection, sends the
/// same redirect again, and nobody sees the page of the first request any more. So the second one
/// gets the result of the first one.
final class WebSignInAnswers: Sendable {
  /// One answer to a sign-in, which is finished for one client.
  struct Answer: Hashable, Redacted {
    let signIn: WebSignIn
    let redirect: String
    let configuration: ClientConfiguration

    var description: String { "answer to the \(signIn)" }
  }

  private typealias Outcome = Result<AuthorizationModule, SQOAuthError>

  private let underWay = Locked<[Answer: (outcome: OneShot<Outcome>, callers: Int)]>([:])

  /// How many callers each answer has that is under way.
  var callers: [Int] { underWay.withLock { $0.values.map(\.callers) } }

  /// Runs a body for an answer, or waits for the body that runs for it already.
  ///
  /// A cancelled caller still waits for the end: the code can be sent once, so the work is not given
  /// up when nobody waits, as a `SharedFetches` would. When the body has ended, the answer is forgotten.
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
