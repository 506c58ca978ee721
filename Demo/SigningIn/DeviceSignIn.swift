import Basics
import SequencingOAuth

/// Signs an account's user in on another device, where the user enters a code.
struct DeviceSignIn: Sendable {
  let oauth: SQOAuth
  /// The server, in words.
  let place: String
  /// Whether the sandbox's visitor plays the user.
  let isVisited: Bool
  let console: Console

  func run() async throws(Failure) {
    console.progress("Signing in at \(place.onScreen).")
    let screen = DeviceCodeScreen(console: console)
    let showing = Locked<Task<Failure?, Never>?>(nil)
    let outcome: Result<Void, SQOAuthError>
    do throws(SQOAuthError) {
      try await oauth.signInWithDeviceCode { @Sendable [self] authorization in
        let task = Task { await show(authorization, on: screen) }
        showing.withLock { $0 = task }
      }
      outcome = .success(())
    } catch {
      outcome = .failure(error)
    }
    let task = showing.withLock(\.self)
    task?.cancel()
    let failure = await task?.value
    if case .failure(let error) = outcome { throw failure ?? Failure(error).ofSignIn }
  }

  /// Shows the code until the sign-in is over; returns the reason why the visitor cannot enter it.
  private func show(
    _ authorization: DeviceAuthorization, on screen: DeviceCodeScreen
  ) async -> Failure? {
    guard isVisited else {
      await screen.show(authorization)
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
