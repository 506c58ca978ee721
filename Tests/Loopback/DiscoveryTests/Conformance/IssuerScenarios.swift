import SequencingOAuth
import SequencingOAuthDiscovery
import Testing

@testable import TestSupport

/// The scenarios of the Model Context Protocol's conformance suite about `iss` in the redirect.
///
/// - SeeAlso: RFC 9207, section 2.4; modelcontextprotocol/conformance
@Suite(.timeLimit(.minutes(2))) struct IssuerScenarios {
  private let party: Party
  private let advertised = "authorization_response_iss_parameter_supported"

  init() throws {
    party = try Party()
    party.first.actLikeTheSuite()
  }

  private func stopsBeforeTheToken(
    sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    await failure(.issuerMismatch, sourceLocation: sourceLocation) {
      try await party.client().send(party.request())
    }
    #expect(party.authorized.count == 1, sourceLocation: sourceLocation)
    #expect(party.redeemed.isEmpty, sourceLocation: sourceLocation)
    party.expectNoFaults(sourceLocation: sourceLocation)
  }

  @Test func `auth/iss-supported`() async throws {
    try await party.works()
    #expect(party.redeemed.count == 1)
  }

  @Test func `auth/iss-not-advertised`() async throws {
    party.first.change { $0.issuer = .none }
    try await party.works()
    #expect(party.redeemed.count == 1)
  }

  @Test func `auth/iss-supported-missing`() async throws {
    party.first.change { [advertised] in
      $0.issuer = .none
      $0.members[advertised] = true
    }
    await stopsBeforeTheToken()
  }

  @Test func `auth/iss-wrong-issuer`() async throws {
    party.first.change { [advertised] in
      $0.issuer = .other("https://evil.example.com")
      $0.members[advertised] = true
    }
    await stopsBeforeTheToken()
  }

  @Test func `auth/iss-unexpected`() async throws {
    party.first.change { $0.issuer = .other("https://evil.example.com") }
    await stopsBeforeTheToken()
  }

  @Test(arguments: [true, false])
  func `auth/iss-normalized`(isAdvertised: Bool) async throws {
    party.first.change { [party, advertised] in
      $0.issuer = .other(party.first.origin + "/")
      $0.members[advertised] = isAdvertised ? true : .some(nil)
    }
    await stopsBeforeTheToken()
  }
}
