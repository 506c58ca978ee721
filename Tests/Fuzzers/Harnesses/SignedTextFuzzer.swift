import FoundationEssentials

@testable import SQBasics
@testable import SQCrypto
@testable import SequencingOAuth

extension Fuzzer {
  /// A fuzzer for a signed text (JWS) in compact serialization.
  static let signedText = Fuzzer("signed-text") { input in
    let input = String(decoding: input, as: UTF8.self)
    let text: CompactJWS
    do throws(JWSFailure) {
      text = try CompactJWS(input)
    } catch {
      try check(error)
      return
    }
    let segments = [text.payload, text.signature].map(Base64URL.encode)
    let signed = String(decoding: text.signingInput, as: UTF8.self)
    try require(signed.hasSuffix("." + segments[0]), "the payload has another form")
    try require(input.hasSameBytes(as: signed + "." + segments[1]), "something is not signed")
    try require("\(text)" == "a signed text", "it shows as \(text)")
    for algorithm in JWSAlgorithm.allCases { try check(text, algorithm) }
    try requireClaims(of: text)
  }

  private static let secret = Data(repeating: 0x2A, count: 64)

  /// Requires that no text is verified with an algorithm that it does not name, or with keys of
  /// another type.
  private static func check(_ text: CompactJWS, _ algorithm: JWSAlgorithm) throws {
    let bySecret = failure { () throws(JWSFailure) in
      try text.verify(secret: secret, algorithm: algorithm)
    }
    let byKeys = failure { () throws(JWSFailure) in
      try text.verify(with: JSONWebKeySet(Data(#"{"keys":[]}"#.utf8)), algorithm: algorithm)
    }
    guard text.algorithmName.hasSameBytes(as: algorithm.rawValue) else {
      let expected = JWSFailure.algorithm(found: text.algorithmName)
      try require(
        bySecret == expected && byKeys == expected,
        "another algorithm than \(algorithm) is not reported")
      return
    }
    try require(byKeys == .noKey, "verified without a key: \(algorithm)")
    try require(bySecret != nil, "verified by a secret that signed nothing: \(algorithm)")
    try require(algorithm.isSymmetric || bySecret == .noKey, "a secret is used for \(algorithm)")
  }

  /// Requires that a text has claims if its payload is valid JSON with unique names, and has none
  /// if a name occurs twice.
  private static func requireClaims(of text: CompactJWS) throws {
    let decoded = JSONMessage.members(of: text.payload)
    let isUnique = decoded.map { count(of: .object($0)) == colons(in: text.payload) } ?? false
    switch Result(catching: { () throws(JWSFailure) in try text.claims() }) {
    case .success(let claims):
      try require(isUnique && claims == decoded, "the claims are not the payload's members")
    case .failure(let failure):
      try require(
        !isUnique || !isFaultless(text.payload),
        "a payload without claims, though each name occurs once")
      try check(failure)
    }
  }

  /// Returns whether Foundation also reads the text, and no byte order mark precedes it.
  private static func isFaultless(_ text: Data) -> Bool {
    !text.starts(with: [0xEF, 0xBB, 0xBF])
      && (try? JSONDecoder().decode([String: JSONValue].self, from: text)) != nil
  }

  static func check(_ failure: JWSFailure) throws(Finding) {
    guard case .malformed(let reason) = failure else { return }
    try require(reason.isHarmless && reason.utf8.count < 80, "the reason is \(reason)")
  }

  static func failure(_ work: () throws(JWSFailure) -> Void) -> JWSFailure? {
    do throws(JWSFailure) {
      try work()
      return nil
    } catch {
      return error
    }
  }

  private static func count(of value: JSONValue) -> Int {
    switch value {
    case .object(let members): members.values.reduce(members.count) { $0 + count(of: $1) }
    case .array(let elements): elements.reduce(0) { $0 + count(of: $1) }
    default: 0
    }
  }

  private static func colons(in text: Data) -> Int {
    var (colons, isInString, isEscaped) = (0, false, false)
    for byte in text {
      if byte == UInt8(ascii: "\""), !isEscaped { isInString.toggle() }
      if byte == UInt8(ascii: ":"), !isInString { colons += 1 }
      isEscaped = isInString && byte == UInt8(ascii: "\\") && !isEscaped
    }
    return colons
  }
}
