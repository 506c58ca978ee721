import OAuthSandbox
import SQBasics
import SequencingOAuth

@testable import TestSupport

extension AuthorizationModule {
  /// Signs in with a code that a user enters as soon as it is shown.
  ///
  /// The clock advances by 5 s, the interval of the polls.
  @discardableResult
  func signInWithDeviceCode(enteredBy user: SandboxVisitor, _ clock: ManualClock) async throws
    -> SQToken
  {
    let shown = OneShot<DeviceAuthorization>()
    let signIn = begin { try await self.signInWithDeviceCode(show: { shown.resolve($0) }) }
    let device = try await eventually { shown.current }
    try await user.enterCode(device.userCode, at: device.verificationURI)
    await clock.hasSleeper()
    clock.advance(by: 5)
    return try await signIn.value
  }
}
