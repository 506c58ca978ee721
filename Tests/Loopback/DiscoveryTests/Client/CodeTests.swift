import Foundation
import OAuthSandbox
import SequencingOAuth
import Testing

@testable import SQBasics
@testable import SequencingOAuthDiscovery
@testable import TestSupport

/// A client whose user has a browser only on another device, and signs in with a code.
@Suite(.timeLimit(.minutes(1))) struct CodeTests {
  private struct Broken: Error {}

  private func client(
    of sandbox: SandboxServer,
    showing show: @escaping @Sendable (DeviceAuthorization) async throws -> Void
  ) throws -> ResourceClient {
    var metadata = ClientMetadata(redirectURIs: [Party.redirect], clientName: "An app")
    metadata.grantTypes.append("urn:ietf:params:oauth:grant-type:device_code")
    var options = ResourceClient.Options()
    options.showsCode = show
    return try ResourceClient(
      sandbox.url(.me).absoluteString,
      as: ClientIdentity(registering: metadata, in: MemoryRegistrationStore()),
      accounts: AccountManager(store: MemoryTokenStore()), options: options)
  }

  @Test func `a request shows a device code and is sent after the user has entered it`()
    async throws
  {
    var options = SandboxOptions()
    options.deviceInterval = .seconds(1)
    let sandbox = try await SandboxServer.start(options)
    let shown = Locked<[DeviceAuthorization]>([])
    let client = try client(of: sandbox) { authorization in
      shown.withLock { $0.append(authorization) }
      try await SandboxVisitor()
        .enterCode(authorization.userCode, at: authorization.verificationURI)
    }
    let response = try await client.send(WebRequest(url: sandbox.url(.me).absoluteString))
    #expect(response.status == 200 && shown.withLock(\.count) == 1)
    let begun = try #require(sandbox.requests(to: .deviceAuthorization).first)
    #expect(begun.form("resource") == sandbox.issuer.absoluteString)
    await sandbox.stop()
  }

  @Test func `if the code screen throws, the request fails and no token is stored`() async throws {
    let sandbox = try await SandboxServer.start()
    let client = try client(of: sandbox) { _ in throw Broken() }
    let error = await failure(.cancelled) {
      try await client.send(WebRequest(url: sandbox.url(.me).absoluteString))
    }
    #expect(error?.cause is Broken)
    #expect(try await client.account()?.currentToken == nil)
    #expect(sandbox.requests(to: .token).isEmpty && sandbox.requests(to: .me).count == 1)
    await sandbox.stop()
  }

  /// The end of a sign-in restores the account's client and attributes.
  @Test func `after a cancelled sign-in, the next one waits until the code screen is gone`()
    async throws
  {
    var options = SandboxOptions()
    options.deviceInterval = .seconds(1)
    let sandbox = try await SandboxServer.start(options)
    let screen = Gate(isOpen: false)
    let shown = Locked(0)
    let client = try client(of: sandbox) { authorization in
      let isFirst = shown.withLock { count in
        count += 1
        return count == 1
      }
      // This screen does not notice that its sign-in has ended.
      guard !isFirst else { return await screen.pass() }
      try await SandboxVisitor()
        .enterCode(authorization.userCode, at: authorization.verificationURI)
    }
    let first = begin { try await client.signIn() }
    try await screen.isHolding()
    let latest = client.latestEnd.withLock(\.self)
    let end = try #require(latest)
    first.cancel()
    await failure(.cancelled) { try await first.value }
    let second = begin { try await client.signIn() }
    try await eventually("the next sign-in waits") {
      end.state.withLock { !$0.waiters.isEmpty }
    }
    #expect(shown.withLock(\.self) == 1)
    screen.open()
    #expect(try await second.value.currentToken != nil)
    #expect(shown.withLock(\.self) == 2)
    await sandbox.stop()
  }
}
