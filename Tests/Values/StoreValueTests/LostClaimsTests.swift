import Testing

@testable import SequencingOAuthPostgreSQL

/// The claims on due accounts that a store must look for, because the database's answer was lost.
@Suite struct LostClaimsTests {
  private static let start = ContinuousClock.now

  private static func at(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

  @Test func `a store searches the database for an unanswered claim until the claim expires`() {
    var claims = LostClaims()
    claims.lose(7, for: .seconds(120), at: Self.at(0))
    claims.lose(3, for: .seconds(120), at: Self.at(60))
    #expect(claims.marks(at: Self.at(121)).lost == [3, 7])
    #expect(claims.marks(at: Self.at(122)).lost == [3])
    #expect(claims.marks(at: Self.at(182)).lost == [])
  }

  @Test func `a store searches for an unanswered claim for 10 s after the database answers again`()
  {
    var claims = LostClaims()
    claims.lose(7, for: .seconds(120), at: Self.at(0))
    claims.answered(at: Self.at(50))
    claims.answered(at: Self.at(55))
    #expect(claims.marks(at: Self.at(59)).lost == [7])
    #expect(claims.marks(at: Self.at(60)).lost == [])
  }

  @Test func `the random mark of a claim is a number of microseconds below one second`() {
    var claims = LostClaims()
    let marks = (1...1000).map { _ in claims.marks(at: Self.at(0)).own }
    #expect(marks.allSatisfy { (0..<1_000_000).contains($0) })
    #expect(Set(marks).count > 900)
  }
}
