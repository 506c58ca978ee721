#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The public keys that a server publishes.
///
/// Two sets are equal if they have the same keys in any order.
///
/// - SeeAlso: RFC 7517, section 5
struct JSONWebKeySet: Sendable, Hashable {
  static let maximumSize = 1 << 20
  static let maximumKeys = 100

  private let keys: Set<JSONWebKey>

  /// Reads a set of keys and leaves out those that the SDK does not understand.
  init(_ text: Data) throws(JWSFailure) {
    guard text.count <= Self.maximumSize else { throw .tooLong }
    let members = try JOSEObject.members(of: text, as: "key set", .keySet)
    guard let keys = members["keys"].array else {
      throw .malformed("the key set has no array of keys")
    }
    guard keys.count <= Self.maximumKeys else {
      throw .malformed("the key set has more than \(Self.maximumKeys) keys")
    }
    self.keys = Set(keys.compactMap(JSONWebKey.init))
  }

  /// The keys that fit a signed text: those with the name in its header, or all if it names none.
  ///
  /// - SeeAlso: RFC 7515, appendix D
  func keys(for text: CompactJWS, _ algorithm: JWSAlgorithm) -> [PublicKey] {
    keys.lazy.filter { $0.fits(algorithm, keyID: text.keyID) }.map(\.publicKey)
  }
}
