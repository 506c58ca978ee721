/// A fault of a key set, for tests of clients that must handle it.
///
/// The raw value of a fault is a phrase that a test can use in its name.
public enum SandboxKeySetFault: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
  /// The connection ends without an answer.
  case unreachable = "the connection ends without an answer"
  /// The answer has the status 500.
  case serverError = "the answer has the status 500"
  /// The answer has the status 404.
  case notFound = "the answer has the status 404"
  /// The body is not JSON.
  case notJSON = "the body is not JSON"
  /// The head of the answer is sent, but no byte of the body.
  case silent = "the head of the answer is sent, but no byte of the body"
  /// The set has no member `keys`.
  case noMember = "the set has no member keys"
  /// The member `keys` is not an array.
  case notAnArray = "the member keys is not an array"
  /// The set contains no key.
  case empty = "the set contains no key"
  /// The member `keys` occurs twice: first with the right keys, then empty.
  case doubled = "the member keys occurs twice"
  /// The signing keys are missing: the set contains only keys that sign nothing.
  case withoutSigningKeys = "the signing key is missing"
  /// The points of the elliptic-curve keys are not on their curves.
  case pointsOffCurve = "the points of the elliptic-curve keys are not on their curves"
  /// The signing keys are marked for encryption, `use=enc`.
  case forEncryption = "the signing key is for encryption"

  /// The fault as a phrase, such as `the set contains no key`.
  public var description: String { rawValue }

  func keySet(_ keys: [SandboxJSON], _ decoys: [SandboxJSON]) -> SandboxJSON {
    switch self {
    case .noMember: [:]
    case .notAnArray: ["keys": "none"]
    case .empty: ["keys": []]
    case .doubled: .object([.init("keys", .array(decoys + keys)), .init("keys", [])])
    case .withoutSigningKeys: ["keys": .array(decoys)]
    case .pointsOffCurve: ["keys": .array(keys.map(Self.movedOffCurve))]
    case .forEncryption: ["keys": .array(keys.map { $0.setting("use", to: "enc") })]
    default: ["keys": .array(decoys + keys)]
    }
  }

  /// Swaps the coordinates; the result is almost certainly not a point of the curve.
  private static func movedOffCurve(_ key: SandboxJSON) -> SandboxJSON {
    guard let y = key["y"] else { return key }
    return key.setting("x", to: y).setting("y", to: key["x"])
  }
}
