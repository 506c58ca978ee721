import Foundation
import Testing

@testable import SQBasics
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

  @Test func `a sign-in that ends while an earlier one is being told waits`() async throws {
    let gate = OneShot<Void>()
    signIns.onEnd { [signIns, told] outcome in
      if case .failure = outcome {
        // Being told; it is held up here until the other one waits for that, or has been told.
        gate.resolve(())
        while !signIns.telling.isAwaited, told.all.isEmpty { usleep(500) }
      }
      told.add(outcome)
    }
    signIns.start(SignIn.Wish()) { _ in
      await gate.wait()
      return .success(SQToken(accessToken: "second"))
    }
    // It is refused, and told by the thread that asks for it, which may block.
    Thread.detachNewThread { [signIns] in
      signIns.start(SignIn.Wish(place: .otherDevice), Self.run("never"))
    }
    try await eventually { told.all.count == 2 }
    #expect(told.all == ["sign_in_under_way", "second"])
  }

  @Test func `a sign-in begins only when all cancelled ones have ended`() async throws {
    let gate = OneShot<Void>()
    let begun = OneShot<SignIn>()
    signIns.onEnd { [told] in told.add($0) }
    // It goes on when it is cancelled, as one does whose token has arrived.
    signIns.start(SignIn.Wish()) { signIn in
      begun.resolve(signIn)
      await gate.wait()
      return .success(SQToken(accessToken: "first"))
    }
    let first = await begun.wait()
    signIns.cancel()
    signIns.start(SignIn.Wish()) { _ in .failure(.signInCancelled) }
    let second = try #require(signIns.underWay)
    signIns.cancel()
    signIns.start(SignIn.Wish(), Self.run("third"))
    // The second waits for the first, and the third for the second; once they ended before it.
    try await eventually {
      first.work.outcome.waiters == 1 && second.work.outcome.waiters == 1 || !told.all.isEmpty
    }
    #expect(told.all.isEmpty)
    gate.resolve(())
    try await eventually { told.all.count == 3 }
    #expect(told.all == ["first", "cancelled", "third"])
  }
}

extension Locked where Value == Void {
  /// Whether a thread waits for the lock: glibc writes a 2 into the mutex before it waits.
  fileprivate var isAwaited: Bool { storage.pointee.mutex.__data.__lock == 2 }
}

extension OneShot {
  /// How many tasks wait for the value.
  fileprivate var waiters: Int { state.withLock(\.waiters.count) }
}
