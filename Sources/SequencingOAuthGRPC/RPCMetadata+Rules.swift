import SQBasics
import SQFoundation
import SequencingOAuth

/// The rules for the names and values that a caller may send.
///
/// - SeeAlso: gRPC's `doc/PROTOCOL-HTTP2.md`, "Custom-Metadata"
extension RPCMetadata {
  /// The names that gRPC itself sends, that HTTP/2 forbids (RFC 9113, section 8.2.2), or that mean
  /// something else to HTTP.
  private static let reserved: Set<String> = [
    "te", "content-type", "content-length", "content-encoding", "accept-encoding", "user-agent",
    "host", "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade",
    "trailer", "expect", "proxy-authorization",
  ]

  static func entry(_ text: String, _ name: String) throws(RPCCallError) -> Entry {
    let field = try field(name, text, hasBytes: false)
    return Entry(name: field.name, value: .text(field.value))
  }

  static func entry(_ bytes: Data, _ name: String) throws(RPCCallError) -> Entry {
    Entry(name: try field(name, "", hasBytes: true).name, value: .bytes(bytes))
  }

  /// Returns a field with the name in lower case; throws if HTTP or gRPC does not allow it.
  private static func field(
    _ name: String, _ text: String, hasBytes: Bool
  ) throws(RPCCallError) -> HeaderFields.Field {
    // Check before lowercasing: some letters outside ASCII become ASCII letters in lower case.
    let httpFlaw = HeaderFields.Field(name: name, value: text).flaw
    let field = HeaderFields.Field(name: name.lowercased(), value: text)
    if let flaw = httpFlaw ?? flaw(of: field, hasBytes: hasBytes) {
      throw RPCCallError(.invalidArgument, flaw)
    }
    return field
  }

  /// Returns the reason why gRPC does not allow a field that HTTP allows; `nil` if it is allowed.
  private static func flaw(of field: HeaderFields.Field, hasBytes: Bool) -> String? {
    let name = field.name
    if !name.utf8.allSatisfy(isNameByte) {
      return
        "the name of a metadata entry must consist of ASCII letters, digits, '_', '-' and '.'"
    }
    if name.hasPrefix("grpc-") || reserved.contains(name) {
      return "gRPC or HTTP reserves the metadata name \(name)"
    }
    switch (name.hasSuffix("-bin"), hasBytes) {
    case (true, false): return "the metadata name \(name) ends in -bin, so its value must be bytes"
    case (false, true):
      return "the metadata name \(name) does not end in -bin, so its value must be a text"
    default: break
    }
    if field.value.utf8.contains(0x09) { return "the value of \(name) contains a tab" }
    // HTTP would remove a space at the start or at the end.
    if field.value.utf8.first == 0x20 || field.value.utf8.last == 0x20 {
      return "the value of \(name) begins or ends with a space"
    }
    return nil
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    byte.isAlphanumeric || "_-.".utf8.contains(byte)
  }
}
