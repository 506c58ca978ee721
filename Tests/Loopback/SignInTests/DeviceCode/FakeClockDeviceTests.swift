import Foundation
import OAuthSandbox
import SequencingOAuth
import SequencingOAuthTesting
import Testing

/// A sign-in on another device in an app's test, without waiting for the server's polling interval.
@Suite(.timeLimit(.minutes(1))) struct FakeClockDeviceTests {
  @Test func `with a fake clock, a device sign-in does not wait for the five-second interval`()
    async throws
  {
    let sandbox = try await SandboxServer.start()
    let clock = FakeClock()
    var environment = ClientEnvironment()
    environment.clock = clock
    let account = AuthorizationModule(
      configuration: try ClientConfiguration(
        clientID: "sandbox-app", scope: "demo", provider: .issuer(sandbox.issuer.absoluteString)),
      environment: environment)
    let token = try await account.signInWithDeviceCode { device in
      Task {
        try await SandboxVisitor().enterCode(device.userCode, at: device.verificationURI)
        await clock.passNextWait()
      }
    }
    #expect(sandbox.isActive(token.accessToken))
    #expect(clock.steadyTime == .seconds(5))
  }
}
