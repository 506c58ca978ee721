/// A way in which a key set can be wrong.
///
/// The text of a fault is a phrase for the name of a test.
public enum SandboxKeySetFault: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
  /// The connection ends without an answer.
  case unreachable = "the connection ends without an answer"
  /// The answer has the status 500.
  case serverError = "the answer has the status 500"
  /// The answer has the status 404.
  case notFound = "the answer has the status 404"
  /// The body is no JSON.
  case notJSON = "the body is no JSON"
  /// The head of the answer comes, and no byte of the body follows.
  case silent = "the head of the answer comes, and no byte of the body follows"
  /// The set has no member `keys`.
  case noMember = "the set has no member keys"
  /// The member `keys` is no array.
  case notAnArray = "the member keys is no array"
  /// The set contains no key.
  case empty = "the set contains no key"
  /// The member `keys` comes twice: the right keys, and then none.
  case doubled = "the member keys comes twice"
  /// The set contains decoys alone, and the key that signs is missing.
  case withoutSigningKeys = "the key that signs is missing"
  /// The points of the elliptic keys are not on their curves.
  case pointsOffCurve = "the points of the elliptic keys are not on their curves"
  /// The keys that sign are for encryption, `use=enc`.
  case forEncryption = "the key that signs is marked for encryption"

  /// What is wrong.
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

  /// Exchanges the coordinates, which are then a point of the curve only by a chance of 2^-128.
  private static func movedOffCurve(_ key: SandboxJSON) -> SandboxJSON {
    guard let y = key["y"] else { return key }
    return key.setting("x", to: y).setting("y", to: key["x"])
  }
}
