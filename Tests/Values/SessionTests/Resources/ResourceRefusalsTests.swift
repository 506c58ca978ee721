import Foundation
import Testing

@testable import SequencingOAuth

/// What an account remembers of refusals if servers name very many addresses or scopes.
@Suite struct ResourceRefusalsTests {
  private let error = SQOAuthError(.insufficientScope, "the server refused the token")

  @Test func `a server's refusal of fresh tokens is not forgotten for those of many others`()
    throws
  {
    var refusals = FreshTokenRefusals()
    let now = Date(timeIntervalSince1970: 1_750_000_000)
    let origin = try ResourceOrigin("https://api.example")
    refusals.note(origin, error, at: now)
    for number in 0..<1000 {
      refusals.note(try ResourceOrigin("https://h\(number).example"), error, at: now)
      let isHeld = refusals.holds(origin, at: now)
      #expect(isHeld)
    }
  }

  @Test func `the limit of sign-ins for a demand is not forgotten for many other demands`() throws {
    var stepUps = StepUps()
    let demand = try #require(StepUpDemand(error.demanding(["write"])))
    for _ in 0..<StepUps.limit {
      let begins = stepUps.begin(demand, after: nil, at: .zero)
      #expect(begins)
    }
    for number in 0..<1000 {
      let other = try #require(StepUpDemand(error.demanding(["scope\(number)"])))
      let begins = (
        stepUps.begin(other, after: nil, at: .zero), stepUps.begin(demand, after: nil, at: .zero)
      )
      #expect(begins == (true, false))
    }
  }
}
