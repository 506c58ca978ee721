import Foundation
import Testing

@testable import SQBasics
@testable import SequencingOAuth
@testable import TestSupport

/// An app is notified of the ends of its sign-ins in the order in which they ended.
@Suite(.timeLimit(.minutes(1))) struct OutcomeOrderTests {
  let signIns = SignIns()
  /// The reported tokens and error codes, in order.
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

  @Test func `a sign-in that ends while an earlier one is reported is itself reported afterwards`()
    async throws
  {
    let gate = OneShot<Void>()
    signIns.onEnd { [signIns, told] outcome in
      if case .failure = outcome {
        // Delays the report of the failure until the second sign-in waits to report its end, or has
        // reported it.
        gate.resolve(())
        while !signIns.reporting.isAwaited, told.all.isEmpty { usleep(500) }
      }
      told.add(outcome)
    }
    signIns.start(SignIn.Request()) { _ in
      await gate.wait()
      return .success(SQToken(accessToken: "second"))
    }
    // This sign-in is rejected because another one is running. The thread that starts it also
    // reports it, and may block.
    Thread.detachNewThread { [signIns] in
      signIns.start(SignIn.Request(place: .otherDevice), Self.run("never"))
    }
    try await eventually { told.all.count == 2 }
    #expect(told.all == ["sign_in_under_way", "second"])
  }

  @Test func `a sign-in begins only after all cancelled ones have ended`() async throws {
    let gate = OneShot<Void>()
    let begun = OneShot<SignIn>()
    signIns.onEnd { [told] in told.add($0) }
    // This sign-in goes on after it is cancelled, like a sign-in whose token has arrived.
    signIns.start(SignIn.Request()) { signIn in
      begun.resolve(signIn)
      await gate.wait()
      return .success(SQToken(accessToken: "first"))
    }
    let first = await begun.wait()
    signIns.cancel()
    signIns.start(SignIn.Request()) { _ in .failure(.signInCancelled) }
    let second = try #require(signIns.underWay)
    signIns.cancel()
    signIns.start(SignIn.Request(), Self.run("third"))
    // The second sign-in waits for the first, and the third for the second. If they did not wait,
    // they would end earlier.
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
  /// The number of tasks that wait for the value.
  fileprivate var waiters: Int { state.withLock(\.waiters.count) }
}
