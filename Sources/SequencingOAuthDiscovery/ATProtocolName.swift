import SQBasics
import SequencingOAuth

/// The name of a user of AT Protocol: a handle or a DID.
///
/// - SeeAlso: AT Protocol, "Handle" and "DID"
enum ATProtocolName: Sendable, Hashable {
  case handle(String)
  case did(String)

  /// The top-level domains that no handle can have, because they lead to no public server.
  private static let reserved: Set = [
    "alt", "arpa", "example", "internal", "invalid", "local", "localhost", "onion",
  ]

  /// Reads what a user enters: a handle, with or without an `@`, or a DID.
  ///
  /// - Throws: `SQOAuthError.Code.invalidConfiguration` if the text is neither a handle nor a DID
  ///   that the SDK can resolve.
  init(_ text: String) throws(SQOAuthError) {
    if text.hasPrefix("did:") {
      guard Self.isDID(text) else { throw Self.fault(text) }
      self = .did(text)
    } else {
      let handle = String(text.drop { $0 == "@" }).asciiLowercased()
      guard Self.isHandle(handle) else { throw Self.fault(text) }
      self = .handle(handle)
    }
  }

  private static func fault(_ text: String) -> SQOAuthError {
    SQOAuthError(
      .invalidConfiguration,
      "\"\(text.printable)\" is neither a handle, such as alice.bsky.social, nor a DID that can be "
        + "used (did:plc:… or did:web:…)")
  }

  /// Returns whether a text is a domain name that can be a handle.
  private static func isHandle(_ text: String) -> Bool {
    let labels = text.split(separator: ".", omittingEmptySubsequences: false)
    guard text.utf8.count <= 253, labels.count >= 2, let last = labels.last,
      let first = last.utf8.first, !first.isDigit,
      !reserved.contains(String(last))
    else { return false }
    return labels.allSatisfy { label in
      (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
        && label.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
    }
  }

  /// Returns whether a text is a DID that the SDK can resolve.
  static func isDID(_ text: String) -> Bool {
    if let key = text.suffix(after: "did:plc:") {
      return key.utf8.count == 24
        && key.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x32...0x37).contains($0) }
    }
    return text.suffix(after: "did:web:").map { isHandle(String($0)) } ?? false
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (0x61...0x7A).contains(byte) || byte.isDigit
  }
}

extension String {
  /// Returns the text after a prefix; `nil` if the text does not begin with the prefix.
  func suffix(after prefix: String) -> Substring? {
    hasPrefix(prefix) ? dropFirst(prefix.count) : nil
  }
}
