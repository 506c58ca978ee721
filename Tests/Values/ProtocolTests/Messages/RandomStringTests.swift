import Foundation
import Testing

@testable import SQCrypto
@testable import SequencingOAuth

@Suite struct RandomStringTests {
  @Test func `a thousand states differ and have 256 bits of base64url each`() throws {
    let states = (0..<1_000).map { _ in RandomString.make() }
    #expect(Set(states).count == 1_000)
    for state in states {
      #expect(state.utf8.allSatisfy(isUnreserved))
      let base64 = state.replacingOccurrences(of: "-", with: "+")
        .replacingOccurrences(of: "_", with: "/")
      let bytes = try #require(
        Data(base64Encoded: base64 + String(repeating: "=", count: (4 - base64.count % 4) % 4)))
      #expect(bytes.count == 32)
    }
  }

  /// If the generator left out bits, some characters would never occur at some positions.
  @Test func `every character of the alphabet occurs at every position but the last`() {
    let states = (0..<4_000).map { _ in Array(RandomString.make().utf8) }
    for position in 0..<42 {
      #expect(Set(states.map { $0[position] }).count == 64, "position \(position)")
    }
  }
}
