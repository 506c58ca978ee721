import SQBasics
import SQCrypto
import SQFoundation

/// The public keys that a server publishes.
///
/// Two sets are equal if they have the same keys in any order.
///
/// - SeeAlso: RFC 7517, section 5
struct JSONWebKeySet: Sendable, Hashable {
  static let maximumSize = 1 << 20
  /// The largest number of supported keys in a set; keys that the SDK does not support are not
  /// counted.
  static let maximumKeys = 500

  private let boxed: Boxed<Set<JSONWebKey>>
  private var keys: Set<JSONWebKey> { boxed.value }

  private init(keys: Set<JSONWebKey>) {
    boxed = Boxed(keys)
  }

  /// Returns whether two sets are copies of the same set, without comparing the keys.
  func isCopy(of other: Self) -> Bool { boxed.isShared(with: other.boxed) }

  /// Returns the keys that may sign for one of these issuers.
  func keys(for issuers: [String]) -> JSONWebKeySet {
    JSONWebKeySet(keys: keys.filter { $0.maySign(for: issuers) })
  }

  /// Reads a set of keys, and leaves out keys that the SDK does not support.
  init(_ text: Data) throws(JWSFailure) {
    guard text.count <= Self.maximumSize else { throw .tooLong }
    let members = try JOSEObject.members(of: text, as: "key set", .keySet)
    guard let keys = members["keys"].array else {
      throw .malformed("the key set has no array of keys")
    }
    let understood = Array(keys.lazy.compactMap(JSONWebKey.init).prefix(Self.maximumKeys + 1))
    guard understood.count <= Self.maximumKeys else { throw .tooLong }
    boxed = Boxed(Set(understood))
  }

  /// Returns whether a key may verify signatures with one of these algorithms.
  func hasKey(for algorithms: Set<JWSAlgorithm>) -> Bool {
    algorithms.contains { algorithm in keys.contains { $0.fits(algorithm, keyID: nil) } }
  }

  /// Returns the keys that may verify a signed text.
  ///
  /// If the text's header names a key (`kid`), only keys with this name are returned. Otherwise,
  /// all keys for the algorithm are returned.
  ///
  /// - SeeAlso: RFC 7515, appendix D
  func keys(for text: CompactJWS, _ algorithm: JWSAlgorithm) -> [PublicKey] {
    keys.lazy.filter { $0.fits(algorithm, keyID: text.keyID) }.map(\.publicKey)
  }
}
