import Foundation
import SQBasics
import SequencingOAuth
import SequencingOAuthDiscovery
import Testing

@testable import TestSupport

/// A resource server, two authorization servers and a client that knows the resource's address.
///
/// The resource trusts the first authorization server; a scenario changes the rules of each.
final class Party: Sendable {
  static let redirect = "http://127.0.0.1/callback"
  static let app = ClientMetadata(redirectURIs: [redirect], clientName: "An app")

  let journal = Journal()
  let resource: ResourceServer
  let first: AuthorizationServer
  let second: AuthorizationServer
  let browser: PartyBrowser
  let store = MemoryTokenStore()
  let registrations = MemoryRegistrationStore()
  let manager: AccountManager

  init() throws {
    resource = try ResourceServer("resource", journal)
    first = try AuthorizationServer("first", journal)
    second = try AuthorizationServer("second", journal)
    browser = PartyBrowser()
    manager = Self.manager(store, browser)
    resource.change { $0.servers = [first] }
  }

  /// Returns an account manager without loaded accounts, as in a new process.
  static func manager(_ store: any TokenStore, _ browser: PartyBrowser) -> AccountManager {
    var environment = ClientEnvironment()
    environment.userAgent = browser
    return AccountManager(store: store, environment: environment)
  }

  /// The identity of a program that registers itself.
  var registering: ClientIdentity { ClientIdentity(registering: Self.app, in: registrations) }

  /// Returns a client of the resource with the rules of the Model Context Protocol.
  func client(
    _ identity: ClientIdentity? = nil, of address: String? = nil, manager: AccountManager? = nil,
    change: (inout ResourceClient.Options) -> Void = { _ in }
  ) throws -> ResourceClient {
    var options = ResourceClient.Options()
    options.profile = .mcp
    options.interaction = .signInAndStepUp
    change(&options)
    return try ResourceClient(
      address ?? resource.address, as: identity ?? registering, accounts: manager ?? self.manager,
      options: options)
  }

  /// Returns a request to the resource.
  func request(_ method: String = "POST", body: String = "{}") throws -> WebRequest {
    try WebRequest(
      method: method, url: resource.address, body: .bytes(Data(body.utf8)))
  }

  /// Sends a request that may sign in, expects its answer, and checks all requests so far.
  @discardableResult
  func works(
    _ client: ResourceClient? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> ResourceClient {
    let client = try client ?? self.client()
    let response = try await client.send(request())
    #expect(response.status == 200, sourceLocation: sourceLocation)
    #expect(
      String(decoding: response.body, as: UTF8.self) == "hello", sourceLocation: sourceLocation)
    expectNoFaults(sourceLocation: sourceLocation)
    return client
  }

  // MARK: What was sent

  /// Returns the requests with a path to a server; `nil` stands for any path or any server.
  func visits(_ path: String? = nil, at server: String? = nil) -> [Visit] {
    journal.visits.filter {
      (path == nil || $0.path == path) && (server == nil || $0.server == server)
    }
  }

  /// Returns the paths that a server was asked for, in order.
  func paths(at server: String) -> [String] { visits(at: server).map(\.path) }

  /// Returns the paths that a server was asked for, each one once, in the order of the first
  /// requests.
  ///
  /// A sign-in fetches the server's metadata anew, so that the browser opens no old address. This
  /// second request for the metadata is left out.
  func addresses(at server: String) -> [String] {
    var seen: Set<String> = []
    return paths(at: server).filter { seen.insert($0).inserted }
  }

  /// Returns the requests to both authorization servers whose path ends with `path`.
  func visits(ending path: String) -> [Visit] {
    journal.visits.filter { $0.server != "resource" && $0.path.hasSuffix(path) }
  }

  var registered: [Visit] { visits(ending: "/register") }
  var authorized: [Visit] { visits(ending: "/authorize") }
  var redeemed: [Visit] { visits(ending: "/token") }

  /// The scopes of each authorization request; `nil` for a request without the parameter.
  var asked: [Set<String>?] { authorized.map(\.scopes) }

  /// Expects that no server and no rule of ``PartyAudit`` found a mistake in the requests so far.
  func expectNoFaults(sourceLocation: SourceLocation = #_sourceLocation) {
    let faults = journal.faults + PartyAudit(journal.visits).faults
    #expect(faults == [], sourceLocation: sourceLocation)
  }
}
