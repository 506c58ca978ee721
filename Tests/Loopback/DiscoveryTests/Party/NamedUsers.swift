import Foundation
import OAuthSandbox
import SQBasics
import SQLoopback
import SequencingOAuth
import SequencingOAuthDiscovery
import Testing

@testable import TestSupport

/// The resource of a ``Party`` whose users sign in at a sandbox, which names them in ID tokens.
///
/// The resource accepts each token that the sandbox still accepts.
final class NamedUsers: Sendable {
  let party: Party
  let sandbox: SandboxServer
  /// A gate in the resource, for requests with a token.
  let resourceGate = Gate()
  /// A gate in the browser, before the user signs in.
  let browserGate = Gate()
  private let state = Locked<(user: SandboxUser, visits: Int)>((.alice, 0))

  init() async throws {
    party = try Party()
    sandbox = try await SandboxServer.start()
    let (sandbox, gate) = (sandbox, resourceGate)
    party.resource.change {
      $0.issuers = [sandbox.issuer.absoluteString]
      $0.replies["/mcp"] = { visit in
        guard let token = visit.token else { return nil }
        await gate.pass()
        return sandbox.isActive(token) ? .text("hello", type: "text/plain") : nil
      }
    }
  }

  /// The number of sign-ins for which a browser opened.
  var signIns: Int { state.withLock(\.visits) }

  /// The number of requests with a token that the resource got.
  var requests: Int { party.visits("/mcp").count { $0.token != nil } }

  /// Sets the user who sits at the browser from now on.
  func become(_ user: SandboxUser) { state.withLock { $0.user = user } }

  /// Returns an account manager without loaded accounts, as in a new process.
  func manager() -> AccountManager {
    var environment = ClientEnvironment()
    environment.userAgent = CustomUserAgent { [self] url in
      state.withLock { $0.visits += 1 }
      await browserGate.opened()
      _ = try await SandboxVisitor(user: state.withLock(\.user)).visit(url)
    }
    return AccountManager(store: party.store, environment: environment)
  }

  /// Returns a client of the resource; by default, it shares the party's registrations.
  func client(
    _ manager: AccountManager, scope: String = "openid",
    in registrations: MemoryRegistrationStore? = nil
  ) throws -> ResourceClient {
    let identity = registrations.map { ClientIdentity(registering: Party.app, in: $0) }
    return try party.client(identity, manager: manager) {
      $0.profile = .standard
      $0.scope = scope
    }
  }

  /// Sends a request while the resource waits, and returns when it is there.
  func waitingRequest(_ client: ResourceClient) async throws -> Task<Int, any Error> {
    resourceGate.close()
    let request = try party.request()
    let sent = begin { try await client.send(request).status }
    try await resourceGate.isHolding()
    return sent
  }
}
