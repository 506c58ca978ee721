import Basics
import Dispatch
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// An app learns how its sign-ins ended in the order in which they ended.
@Suite(.timeLimit(.minutes(1))) struct OutcomeOrderTests {
  let signIns = SignIns()
  /// The tokens and error codes that were told, in order.
  let told = Told()

  final class Told: Sendable {
    private let names = Locked<[String]>([])
    var all: [String] { names.withLock(\.self) }

    func add(_ outcome: SignIn.Outcome) {
      let name =
        switch outcome {
        case .success(let token): token.accessToken
        case .failure(let error): error.code.rawValue
        }
      names.withLock { $0.append(name) }
    }
  }

  static func run(_ token: String) -> SignIns.Run {
    { _ in .success(SQToken(accessToken: token)) }
  }

  @Test func `a sign-in that ends while the one before is being told waits`() async throws {
    let next = DispatchSemaphore(value: 0)
    let isFirst = Locked(true)
    signIns.onEnd { [told] outcome in
      let waits = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      // The first is held up here until the next one has been told, or would have been.
      if waits { _ = next.wait(timeout: .now() + 0.2) }
      told.add(outcome)
      next.signal()
    }
    signIns.start(SignIn.Wish(), Self.run("first"))
    try await eventually { !signIns.isUnderWay }
    signIns.start(SignIn.Wish(), Self.run("second"))
    try await eventually { told.all.count == 2 }
    #expect(told.all == ["first", "second"])
  }

  @Test func `a sign-in begins only when all cancelled ones have ended`() async throws {
    let gate = OneShot<Void>()
    let begun = OneShot<Void>()
    signIns.onEnd { [told] in told.add($0) }
    // It goes on when it is cancelled, as one does whose token has arrived.
    signIns.start(SignIn.Wish()) { _ in
      begun.resolve(())
      await gate.wait()
      return .success(SQToken(accessToken: "first"))
    }
    await begun.wait()
    signIns.cancel()
    signIns.start(SignIn.Wish()) { _ in .failure(.signInCancelled) }
    signIns.cancel()
    signIns.start(SignIn.Wish(), Self.run("third"))
    // Time for the others to end before the first, as they did once.
    for _ in 0..<20 where told.all.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
    #expect(told.all.isEmpty)
    gate.resolve(())
    try await eventually { told.all.count == 3 }
    #expect(told.all == ["first", "cancelled", "third"])
  }
}
