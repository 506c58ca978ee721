import FoundationEssentials

@testable import SQBasics
@testable import SequencingOAuth

extension Fuzzer {
  /// A fuzzer for `WWW-Authenticate`: each line of the input is a field.
  static let challenge = Fuzzer("challenge") { input in
    let fields = String(decoding: input, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let challenges = AuthenticationChallenge.challenges(in: fields)
    let oneByOne = fields.prefix(AuthenticationChallenge.maximumFields).flatMap {
      AuthenticationChallenge.challenges(in: [$0])
    }
    try require(challenges == oneByOne, "fields read differently together than one by one")
    try require(
      challenges.count
        <= AuthenticationChallenge.maximumFields * AuthenticationChallenge.maximumChallenges,
      "\(challenges.count) challenges")
    for challenge in challenges { try check(challenge) }
    for challenge in TokenChallenge.challenges(in: fields) {
      try require(challenge.description.isHarmless, "it shows as \(challenge.description)")
      let texts = [challenge.error?.rawValue, challenge.errorDescription, challenge.realm]
      try require(
        texts.allSatisfy { $0?.isHarmless ?? true }, "a text of \(challenge) is not safe to show")
      try require(
        challenge.scope?.isASCII(withSpaces: true) ?? true,
        "the scope of \(challenge) is not ASCII")
    }
    let long = (fields.first ?? "") + String(repeating: " ", count: 8 * 1024 + 1)
    try require(
      AuthenticationChallenge.challenges(in: [long]).isEmpty, "a part of a too long field is read")
  }

  private static func check(_ challenge: AuthenticationChallenge) throws {
    try require(challenge.scheme.isToken, "the scheme is \(challenge.scheme)")
    try require(
      challenge.parameters.count <= AuthenticationChallenge.maximumParameters,
      "\(challenge.parameters.count) parameters")
    if let token68 = challenge.token68 {
      try require(
        !token68.isEmpty && token68.isASCII(withSpaces: false) && challenge.parameters.isEmpty,
        "token68 is \(token68)")
    }
    for (name, value) in challenge.parameters {
      try require(name.isToken && name == name.lowercased(), "a parameter \(name)")
      try require(
        value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }, "\(name) is \(value)")
    }
    let again = AuthenticationChallenge.challenges(in: [written(challenge)])
    try require(again == [challenge], "it reads differently when written: \(written(challenge))")
  }

  /// Returns the challenge in the form of RFC 9110.
  private static func written(_ challenge: AuthenticationChallenge) -> String {
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
}
