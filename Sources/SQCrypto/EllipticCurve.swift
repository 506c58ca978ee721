/// A curve for ECDSA; the raw value is its name in a JSON Web Key.
///
/// - SeeAlso: RFC 7518, section 6.2.1.1
package enum EllipticCurve: String, Sendable, Hashable, CaseIterable {
  case p256 = "P-256"
  case p384 = "P-384"
  case p521 = "P-521"

  /// The size of a coordinate and of each half of a signature, in bytes.
  package var coordinateSize: Int {
    switch self {
    case .p256: 32
    case .p384: 48
    case .p521: 66
    }
  }
}
