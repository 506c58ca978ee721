import FoundationEssentials

@testable import SQCrypto
@testable import SequencingOAuth

extension Fuzzer {
  /// A fuzzer for a set of public keys.
  static let keySet = Fuzzer("key-set") { input in
    let set: JSONWebKeySet
    do throws(JWSFailure) {
      set = try JSONWebKeySet(input)
    } catch {
      try check(error)
      return
    }
    let again = try? JSONWebKeySet(input)
    try require(again == set, "the set reads differently the second time")
    for algorithm in JWSAlgorithm.allCases {
      for member in ["", #","kid":"k""#] {
        try check(set, algorithm, header: #"{"alg":"\#(algorithm.rawValue)"\#(member)}"#)
      }
    }
  }

  private static func check(
    _ set: JSONWebKeySet, _ algorithm: JWSAlgorithm, header: String
  ) throws {
    let signature = Base64URL.encode(Data(repeating: 0x5A, count: 64))
    let text = try CompactJWS(Base64URL.encode(Data(header.utf8)) + ".e30." + signature)
    let keys = set.keys(for: text, algorithm)
    try require(keys.count <= JSONWebKeySet.maximumKeys, "\(keys.count) keys")
    try require(keys.allSatisfy { $0.kind == algorithm.keyType }, "a key of another kind")
    let expected: JWSFailure =
      keys.isEmpty ? .noKey : keys.allSatisfy(\.isWeak) ? .weakKey : .badSignature
    let found = failure { () throws(JWSFailure) in
      try text.verify(with: set, algorithm: algorithm)
    }
    try require(found == expected, "the result is \(String(describing: found)), not \(expected)")
  }
}
