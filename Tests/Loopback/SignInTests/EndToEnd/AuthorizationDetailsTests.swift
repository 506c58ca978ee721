import Foundation
import OAuthSandbox
import Testing

@testable import LoopbackSupport
@testable import SequencingOAuth
@testable import TestSupport

/// Permissions that a scope cannot describe: asked for, granted, granted in part, refused (RFC
/// 9396).
@Suite("End to end: permissions", .timeLimit(.minutes(1))) struct EndToEndDetailsTests {
  private static let payment = AuthorizationDetail(
    type: "payment_initiation",
    [
      "instructedAmount": ["currency": "EUR", "amount": "123.50"],
      "creditorName": "Merchant <Ä>",
    ])
  private static let file = AuthorizationDetail(
    type: "genome_file", ["identifier": "7", "actions": ["read", "delete"]])

  private func fixture(pushes: Bool) async throws -> SandboxFixture {
    var options = SandboxOptions()
    options.authorizationDetailsTypes = [.payment, .genomeFile]
    return try await SandboxFixture(options)
      .register { $0.pushesAuthorizationRequests = pushes }
  }

  private func asking(for details: [AuthorizationDetail] = [payment, file]) -> SignInOptions {
    var options = SignInOptions()
    options.authorizationDetails = details
    return options
  }

  @Test(arguments: [false, true])
  func `the consent page shows the authorization details, and the token has the granted ones`(
    pushes: Bool
  ) async throws {
    let fixture = try await fixture(pushes: pushes)
    let asked = asking()
    let token = try await fixture.oauth.signIn(with: asked)
    #expect(token.authorizationDetails == asked.authorizationDetails)
    #expect(token.authorizationDetailsMissing(from: asked.authorizationDetails).isEmpty)
    try await eventually { !fixture.visited.isEmpty }
    let pages = fixture.visited.flatMap(\.pages).map(\.body)
    #expect(pages.contains { $0.contains("Make a payment (creditorName: Merchant &lt;Ä&gt;") })
    let front = try #require(fixture.sandbox.requests(to: .authorization).first)
    #expect((front.query("authorization_details") == nil) == pushes)
    let refreshed = try await fixture.oauth.refresh()
    #expect(refreshed.authorizationDetails == asked.authorizationDetails)
    // The next sign-in asks for nothing more than its own options say.
    #expect(try await fixture.oauth.signIn().authorizationDetails.isEmpty)
  }

  @Test func `authorization details that the server did not grant are reported as missing`()
    async throws
  {
    let fixture = try await fixture(pushes: true)
    fixture.sandbox.misbehave(at: .token, .fewerAuthorizationDetails)
    let token = try await fixture.oauth.signIn(with: asking())
    #expect(token.authorizationDetails == [Self.payment])
    #expect(token.authorizationDetailsMissing(from: [Self.payment, Self.file]) == [Self.file])
  }

  @Test func `if the server grants other details, all requested ones are reported as missing`()
    async throws
  {
    let fixture = try await fixture(pushes: true)
    fixture.sandbox.misbehave(at: .token, .otherAuthorizationDetails)
    let token = try await fixture.oauth.signIn(with: asking())
    #expect(token.authorizationDetails.map(\.type) == ["another-type", "another-type"])
    #expect(
      token.authorizationDetailsMissing(from: [Self.payment, Self.file])
        == [Self.payment, Self.file])
  }

  @Test func `a token with more authorization details than requested is accepted`() async throws {
    let fixture = try await fixture(pushes: true)
    fixture.sandbox.misbehave(at: .token, .moreAuthorizationDetails)
    let token = try await fixture.oauth.signIn(with: asking())
    #expect(token.authorizationDetails.count == 3)
    #expect(token.authorizationDetailsMissing(from: [Self.payment, Self.file]).isEmpty)
  }

  @Test func `a detail with fewer actions is reported as missing, and one with more is not`()
    async throws
  {
    let fixture = try await fixture(pushes: true)
    for (actions, isMissing) in [(["read"], true), (["delete", "read", "share"], false)] {
      let granted = SandboxJSON.array(actions.map(SandboxJSON.string))
      fixture.sandbox.misbehave(
        at: .token,
        .authorizationDetails { objects in
          objects.map { object in
            var object = object
            object["actions"] = granted
            return object
          }
        })
      let token = try await fixture.oauth.signIn(with: asking(for: [Self.file]))
      #expect(token.authorizationDetailsMissing(from: [Self.file]).isEmpty == !isMissing)
    }
  }

  @Test func `a token response without authorization details grants none`() async throws {
    let fixture = try await fixture(pushes: true)
    fixture.sandbox.misbehave(at: .token, .authorizationDetails { _ in [] })
    let token = try await fixture.oauth.signIn(with: asking())
    #expect(token.authorizationDetails.isEmpty)
    #expect(token.authorizationDetailsMissing(from: [Self.payment]) == [Self.payment])
  }

  static let wrong = [
    AuthorizationDetail(type: "unknown"),
    AuthorizationDetail(type: "payment_initiation", ["creditorName": "without an amount"]),
  ]

  @Test(arguments: wrong)
  func `invalid authorization details in a pushed request fail before the browser opens`(
    detail: AuthorizationDetail
  ) async throws {
    let fixture = try await fixture(pushes: true)
    let error = await failure(.invalidAuthorizationDetails) {
      try await fixture.oauth.signIn(with: asking(for: [Self.file, detail]))
    }
    #expect(error?.requiresSignIn == false && error?.isCancellation == false)
    #expect(fixture.sandbox.requests(to: .pushedAuthorization).count == 1)
    #expect(fixture.sandbox.requests(to: .authorization).isEmpty && fixture.visited.isEmpty)
    #expect(fixture.tokenRequests.isEmpty && fixture.oauth.result.token == nil)
    _ = try await fixture.oauth.signIn(with: asking())
  }

  @Test(arguments: wrong)
  func `invalid authorization details in the authorization URL fail the sign-in`(
    detail: AuthorizationDetail
  ) async throws {
    let fixture = try await fixture(pushes: false)
    await failure(.invalidAuthorizationDetails) {
      try await fixture.oauth.signIn(with: asking(for: [detail]))
    }
    #expect(fixture.tokenRequests.isEmpty && fixture.oauth.result.token == nil)
  }

  @Test func `a server without support for authorization details grants none`() async throws {
    let fixture = try await SandboxFixture().register()
    let token = try await fixture.oauth.signIn(with: asking())
    #expect(token.authorizationDetails.isEmpty)
    #expect(token.authorizationDetailsMissing(from: [Self.file]) == [Self.file])
  }
}
