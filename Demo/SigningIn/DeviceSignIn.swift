import SQBasics
import SQFoundation
import SequencingOAuth

/// The sign-in of an account's user by a code that the user enters on another device.
struct DeviceSignIn: Sendable {
  let oauth: SQOAuth
  /// The server's name or address, to show to the user.
  let place: String
  /// Whether the program acts as the sandbox's user and enters the code.
  let isVisited: Bool
  /// The time limit for the user; `nil` for the lifetime of the code.
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

  /// Starts a task that cancels the sign-in after the time limit, and returns whether it did.
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

  /// Shows the code, or enters it for the sandbox's user.
  ///
  /// Returns the reason if the code could not be entered.
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
