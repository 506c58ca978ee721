import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// Reading a damaged header field never crashes, and always gives the same result.
@Suite struct ChallengeFuzzTests {
  static let seeds =
    (ChallengeGrammarTests.collected + ChallengeGrammarTests.more)
    .flatMap(\.fields) + TokenChallengeTests.fields
  static let pieces: [[UInt8]] = [
    "\"", "\\", ",", "=", " ", "\t", "\r\n", "\0", "Bearer ", "error=", "\u{1F600}", "==",
    "realm=\"", "\\\"", "invalid_token", "\u{301}", "\u{7F}", ", ",
  ].map { Array($0.utf8) }

  /// Returns the text with removed, doubled, swapped and inserted bytes, which need not be UTF-8.
  static func mutated(_ text: String, by generator: inout SeededGenerator) -> String {
    var bytes = Array(text.utf8)
    for _ in 0..<Int.random(in: 1...8, using: &generator) {
      let position = Int.random(in: 0...bytes.count, using: &generator)
      let end = min(bytes.count, position + Int.random(in: 0...4, using: &generator))
      switch Int.random(in: 0..<5, using: &generator) {
      case 0: bytes.removeSubrange(position..<end)
      case 1: bytes.insert(contentsOf: bytes[position..<end], at: position)
      case 2: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: position)
      case 3: bytes = Array(bytes[position...] + bytes[..<position])
      default:
        bytes.insert(contentsOf: pieces.randomElement(using: &generator) ?? [], at: position)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns the challenge in the standard form.
  static func written(_ challenge: AuthenticationChallenge) -> String {
    let parameters = challenge.parameters.sorted { $0.key < $1.key }.map { name, value in
      var text = String.UnicodeScalarView()
      for scalar in value.unicodeScalars {
        if scalar == "\\" || scalar == "\"" { text.append("\\") }
        text.append(scalar)
      }
      return "\(name)=\"\(String(text))\""
    }
    return challenge.scheme + " " + (challenge.token68 ?? parameters.joined(separator: ", "))
  }

  @Test func `10,000 damaged fields are read without a crash and always with the same result`()
    async
  {
    var generator = SeededGenerator(seed: 7_235)
    var found = 0
    for round in 0..<10_000 {
      // Lets other tests run, because some of them measure real time.
      if round % 50 == 0 { await Task.yield() }
      let seed = Self.seeds[round % Self.seeds.count]
      let field = Self.mutated(seed, by: &generator)
      let challenges = AuthenticationChallenge.challenges(in: [field])
      found += challenges.count
      // The standard form of a challenge is read as the same challenge.
      let isStable =
        challenges == AuthenticationChallenge.challenges(in: [field])
        && challenges.allSatisfy {
          AuthenticationChallenge.challenges(in: [Self.written($0)]) == [$0]
        }
      let texts = TokenChallenge.challenges(in: [field, seed]).map(\.description).joined()
      if !isStable || texts.unicodeScalars.contains(where: isHarmful) {
        Issue.record("round \(round): an unstable or unsafe result for \(field.debugDescription)")
      }
    }
    #expect(found > 5_000, "most damaged fields still contain a challenge")
  }
}
