import Foundation
import OAuthSandbox
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

/// The keys of bound tokens, and clocks that differ, at a server that checks them.
@Suite("End to end: keys of bound tokens", .timeLimit(.minutes(1))) struct BoundKeyTests {
  @Test(arguments: [SandboxSigningAlgorithm.es256, .ps256, .edDSA])
  func `the key of the proofs has the algorithm that the server lists`(
    algorithm: SandboxSigningAlgorithm
  ) async throws {
    var options = BoundFixture.strict
    options.dpop.algorithms = [algorithm]
    let bound = try await BoundFixture(.public, options).signedIn()
    #expect(try await bound.send().status == 200)
    let proofs = bound.sandbox.requests.compactMap(\.proof)
    #expect(!proofs.isEmpty && proofs.allSatisfy { $0.algorithm == algorithm.rawValue })
    #expect(await bound.record?.proofKey?.algorithm == algorithm.rawValue)
    try bound.audit()
  }

  @Test
  func `if the server lists no suitable algorithm, the sign-in fails before the browser opens`()
    async throws
  {
    var options = BoundFixture.strict
    options.dpop.algorithms = [.rs256]
    let bound = try await BoundFixture(.public, options)
    await failure(.signInUnsupported) { try await bound.oauth.signIn() }
    #expect(bound.sandbox.requests.allSatisfy { $0.endpoint == .metadata })
  }

  @Test(arguments: BoundFixture.Kind.allCases)
  func `a key that the app passes signs all proofs and is not stored`(kind: BoundFixture.Kind)
    async throws
  {
    let key = try ClientKey(generating: .es256)
    let bound = try await BoundFixture(kind, change: { $0.tokenBinding = .dpopKey(key) }).signedIn()
    #expect(try await bound.send().status == 200)
    bound.outdateNonces()
    try await bound.oauth.refresh()
    let record = try #require(await bound.record)
    #expect(try record.proofKey?.thumbprint == key.keyID && record.proofKey?.storedKey == nil)
    let signed = bound.sandbox.requests.compactMap { $0.proof?.keyThumbprint }
    #expect(Set(signed) == [key.keyID])
    try bound.audit()
  }

  @Test func `each sign-in has a new key, and the server refuses old tokens with the new key`()
    async throws
  {
    let bound = try await BoundFixture().signedIn()
    let old = try #require(await bound.record)
    try await bound.signedIn()
    let new = try #require(await bound.record)
    #expect(old.proofKey != new.proofKey && old.proofKey != nil)
    // The server refuses the old token with the new key, and the old refresh token too.
    let thief = AccountRecord(
      id: "default", clientID: old.clientID, issuer: old.issuer, tokenEndpoint: old.tokenEndpoint,
      grant: old.grant, session: old.session,
      token: try #require(new.proofKey.map { old.token.bound(to: $0) }))
    await bound.store.save(thief)
    var environment = bound.module.environment
    environment.tokenStore = bound.store
    let module = AuthorizationModule(
      configuration: try bound.module.context.configuration.get(), environment: environment)
    module.refreshesAutomatically = false
    await failure(.invalidGrant) { try await module.send(WebRequest(url: bound.sandbox.url(.me))) }
  }

  @Test(arguments: [BoundFixture.Kind.public, .secret], [-600, 600])
  func `a clock that is ten minutes off causes one repeated request at each server`(
    kind: BoundFixture.Kind, seconds: Int
  ) async throws {
    var options = BoundFixture.strict
    options.dpop.noncesRequiredBy = []
    let bound = try await BoundFixture(kind, options)
    bound.sandbox.advance(by: .seconds(seconds))
    try await bound.signedIn()
    #expect(bound.sandbox.requests(to: .token).count == 2)
    #expect(try await bound.count(.me) { _ = try await bound.send() } == 2)
    #expect(try await bound.count(.me) { _ = try await bound.send() } == 1)
    #expect(try await bound.count(.token) { try await bound.oauth.refresh() } == 1)
    let proofs = bound.sandbox.requests.compactMap { request in
      request.proof?.issued.map { $0 - Int(request.date.timeIntervalSince1970) }
    }
    #expect(proofs.suffix(3).allSatisfy { abs($0) <= 5 }, "\(proofs)")
  }

  /// The answer that asks for the nonce also has the server's time.
  @Test(arguments: [-600, 600])
  func `one repeated request corrects both a wrong clock and a missing nonce`(seconds: Int)
    async throws
  {
    let bound = try await BoundFixture()
    bound.sandbox.advance(by: .seconds(seconds))
    try await bound.signedIn()
    #expect(bound.sandbox.requests(to: .token).count == 2)
    #expect(try await bound.count(.me) { _ = try await bound.send() } == 2)
    bound.outdateNonces()
    #expect(try await bound.count(.token) { try await bound.oauth.refresh() } == 2)
  }

  @Test(arguments: [-600, 600])
  func `a client with private_key_jwt signs in even if its clock is ten minutes off`(seconds: Int)
    async throws
  {
    var options = BoundFixture.strict
    options.dpop.noncesRequiredBy = []
    let bound = try await BoundFixture(.key, options)
    bound.sandbox.advance(by: .seconds(seconds))
    try await bound.signedIn()
    #expect(try await bound.send().status == 200)
  }
}
