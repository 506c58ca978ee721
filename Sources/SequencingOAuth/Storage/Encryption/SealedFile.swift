#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The layout of an encrypted token file: a header line, then boxes, each after its length.
///
/// The last box is the seal over all bytes before it.
struct SealedFile {
  let header: Data
  let boxes: [Data]
  /// Everything in front of the seal.
  let sealed: Data
  let seal: Data

  /// Takes a file apart; `nil` where it does not have this layout to its last byte.
  init?(_ bytes: Data) {
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    header = Data(bytes[..<end])
    var boxes: [Data] = []
    var rest = bytes[end...].dropFirst()
    var start = rest.startIndex
    while !rest.isEmpty {
      start = rest.startIndex
      guard rest.count >= 4 else { return nil }
      let count = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      rest = rest.dropFirst(4)
      guard count <= rest.count else { return nil }
      boxes.append(Data(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    guard let seal = boxes.popLast() else { return nil }
    (self.boxes, self.seal) = (boxes, seal)
    sealed = Data(bytes[..<start])
  }

  /// The bytes in front of the seal.
  static func joined(header: Data, boxes: [Data]) -> Data {
    boxes.reduce(into: header + Data("\n".utf8)) { $0 += framed($1) }
  }

  /// A box after its length.
  static func framed(_ box: Data) -> Data {
    var bytes = Data(capacity: 4 + box.count)
    withUnsafeBytes(of: UInt32(box.count).bigEndian) { bytes.append(contentsOf: $0) }
    return bytes + box
  }
}
