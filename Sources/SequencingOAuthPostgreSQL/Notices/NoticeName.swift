import SQCrypto
import SQFoundation
import SequencingOAuth

/// The name of an account in a notice: the first 8 bytes of a digest of its ID.
///
/// A notice does not contain the ID itself, because every role of the database can receive notices,
/// and an ID may be a person's email address.
struct NoticeName: Hashable, Sendable {
  private let value: UInt64

  init(_ id: String) {
    value = Digest.sha256(id).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Reads a name in a notice; `nil` if the text is not a name.
  init?(_ text: Substring) {
    guard text.utf8.count == Self.length, let value = UInt64(text, radix: 16) else { return nil }
    self.value = value
  }

  /// The name as 16 hexadecimal digits.
  var text: String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: Self.length - digits.utf8.count) + digits
  }

  private static let length = 16
}
