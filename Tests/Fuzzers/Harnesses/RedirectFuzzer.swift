import FoundationEssentials

@testable import SQBasics
@testable import SequencingOAuth

extension Fuzzer {
  /// A fuzzer for the URL of a redirect: a browser or any other program on the machine may send it.
  static let redirect = Fuzzer("redirect") { input in
    let text = String(decoding: input, as: UTF8.self)
    for expected in expectations { try judge(text, against: expected) }
  }

  private static let state = "k9Jx0PZQ"

  private static let expectations = [
    ("http://127.0.0.1:8080/callback", nil, false),
    ("http://127.0.0.1:8080/callback", "https://id.example.com", true),
    ("com.example.app:/cb?a=1", "https://id.example.com", false),
  ].map { redirectURI, issuer, requiresIssuer in
    AuthorizationResponse.Expectation(
      redirectURI: redirectURI, state: state, issuer: issuer, requiresIssuer: requiresIssuer)
  }

  private static func judge(
    _ text: String, against expected: AuthorizationResponse.Expectation
  ) throws {
    switch AuthorizationResponse.judge(text, against: expected) {
    case .notAddressed:
      let isOurs =
        text.hasPrefix(expected.redirectURI + (expected.redirectURI.contains("?") ? "&" : "?"))
      try require(
        !isOurs || !text.isASCII(withSpaces: true),
        "a redirect to the expected address is not recognized")
    case .wrongState:
      break
    case .unreadable:
      let names = try pairs(in: text, for: expected).map(\.name)
      try require(
        names.contains("response") && !names.contains("state"),
        "an unreadable redirect has a state, or no signed response")
    case .answer(let result):
      let pairs = try pairs(in: text, for: expected)
      let states = pairs.filter { $0.name == "state" }
      try require(
        states.count == 1 && states[0].value.hasSameBytes(as: expected.state),
        "a wrong state is accepted")
      try check(result, pairs, expected)
    }
  }

  /// Returns the parameters of a redirect, and checks its address in another way than the SDK does.
  private static func pairs(
    in text: String, for expected: AuthorizationResponse.Expectation
  ) throws -> [FormCoding.Pair] {
    let bytes = Array(text.utf8)
    let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.count
    let registered = Array(expected.redirectURI.utf8)
    try require(
      end >= registered.count
        && String(decoding: bytes[..<registered.count], as: UTF8.self)
          .lowercased().hasSameBytes(as: expected.redirectURI.lowercased()),
      "another address is accepted")
    let afterScheme = registered.firstIndex(of: UInt8(ascii: ":")) ?? 0
    try require(
      bytes[afterScheme..<registered.count] == registered[afterScheme...],
      "an address with other letters is accepted")
    let query = bytes[registered.count..<end].dropFirst()
    return FormCoding.mend(String(decoding: query, as: UTF8.self))
  }

  private static func check(
    _ result: Result<AuthorizationResponse, SQOAuthError>, _ pairs: [FormCoding.Pair],
    _ expected: AuthorizationResponse.Expectation
  ) throws {
    switch result {
    case .failure(let error):
      try require(error.description.isHarmless && !error.code.rawValue.isEmpty, "\(error)")
      try require(
        error.description.utf8.count < 8_000, "an error of \(error.description.count) characters")
    case .success(let response):
      let code = response.code
      try require(!code.isEmpty && code.isASCII(withSpaces: true), "the code is \(code)")
      let codes = pairs.filter { $0.name == "code" }
      try require(
        codes.map(\.value) == [code] && codes[0].isExact, "the code is not the one in the redirect")
      try require(
        !pairs.contains { $0.name == "error" }, "a redirect with a code and an error is accepted")
      let issuers = pairs.filter { $0.name == "iss" }.map(\.value)
      try require(
        issuers.count <= 1 && (!issuers.isEmpty || !expected.requiresIssuer),
        "a missing or repeated issuer is accepted")
      if let issuer = expected.issuer, let found = issuers.first {
        try require(found.hasSameBytes(as: issuer), "another issuer is accepted")
      }
      let again = [("code", code), ("state", expected.state)] + issuers.map { ("iss", $0) }
      let query = FormCoding.encodeQuery(again.map { FormCoding.Pair($0.0, $0.1) })
      let separator = expected.redirectURI.contains("?") ? "&" : "?"
      guard
        case .answer(.success(let same)) = AuthorizationResponse.judge(
          expected.redirectURI + separator + query, against: expected),
        same.code.hasSameBytes(as: code)
      else { throw Finding(description: "the answer is not read again: \(query)") }
    }
  }
}
