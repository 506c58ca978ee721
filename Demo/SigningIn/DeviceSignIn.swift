import SQBasics
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Signs an account's user in on another device, where the user enters a code.
struct DeviceSignIn: Sendable {
  let oauth: SQOAuth
  /// The server, in words.
  let place: String
  /// Whether the sandbox's visitor plays the user.
  let isVisited: Bool
  /// The longest time that the user may take; `nil` for the lifetime of the code.
  let timeout: Duration?
  let console: Console

  func run() async throws(Failure) {
    console.progress("Signing in at \(place.onScreen).")
    let screen = DeviceCodeScreen(console: console)
    let showing = Locked<Task<Failure?, Never>?>(nil)
    let limit = Locked<Task<Bool, Never>?>(nil)
    let outcome: Result<Void, SQOAuthError>
    do throws(SQOAuthError) {
      try await oauth.signInWithDeviceCode { @Sendable [self] authorization in
        let task = Task { await show(authorization, on: screen) }
        showing.withLock { $0 = task }
        limit.withLock { $0 = endAfterTimeout() }
      }
      outcome = .success(())
    } catch {
      outcome = .failure(error)
    }
    let task = showing.withLock(\.self)
    task?.cancel()
    let failure = await task?.value
    let isOver = limit.withLock(\.self)
    isOver?.cancel()
    if case .failure(let error) = outcome, error.code == .cancelled, await isOver?.value == true {
      throw timedOut
    }
    if case .failure(let error) = outcome { throw failure ?? Failure(error).ofSignIn }
  }

  /// Cancels the sign-in when the user's time is over; the task's value says whether it did.
  private func endAfterTimeout() -> Task<Bool, Never>? {
    guard let timeout else { return nil }
    return Task {
      guard (try? await Task.sleep(for: timeout)) != nil else { return false }
      oauth.cancelSignIn()
      return true
    }
  }

  private var timedOut: Failure {
    Failure(
      "timed_out",
      "the user did not finish the sign-in on another device "
        + (timeout.map { SignInWait(timeout: $0).limit } ?? "in time"), status: .cancelled)
  }

  /// Shows the code until the sign-in is over; returns the reason why the visitor cannot enter it.
  private func show(
    _ authorization: DeviceAuthorization, on screen: DeviceCodeScreen
  ) async -> Failure? {
    guard isVisited else {
      await screen.show(
        authorization, until: timeout.map { Date(timeIntervalSinceNow: $0.seconds) })
      return nil
    }
    console.progress("The sandbox's visitor enters the code \(authorization.userCode).")
    do throws(Failure) {
      try await EmbeddedSandbox.enterCode(of: authorization)
      return nil
    } catch {
      oauth.cancelSignIn()
      return error
    }
  }
}
