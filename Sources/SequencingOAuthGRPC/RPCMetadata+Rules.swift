#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a caller may send.
///
/// - SeeAlso: gRPC's `doc/PROTOCOL-HTTP2.md`, "Custom-Metadata"
extension RPCMetadata {
  /// What the protocol itself writes, or what HTTP/2 forbids (RFC 9113, section 8.2.2).
  private static let reserved: Set<String> = [
    "te", "content-type", "content-length", "content-encoding", "accept-encoding", "user-agent",
    "host", "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade",
    "trailer", "expect", "proxy-authorization",
  ]

  static func entry(_ text: String, _ name: String) throws(RPCError) -> Entry {
    let name = try checked(name)
    if name.hasSuffix("-bin") {
      throw refusal("\(name) ends in -bin, so it has bytes and no text")
    }
    guard text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
      throw refusal("the value of \(name) has a character that is no printable ASCII")
    }
    // HTTP does not keep it.
    guard text.utf8.first != 0x20, text.utf8.last != 0x20 else {
      throw refusal("the value of \(name) begins or ends with a space")
    }
    return Entry(name: name, value: .text(text))
  }

  static func entry(_ bytes: Data, _ name: String) throws(RPCError) -> Entry {
    let name = try checked(name)
    guard name.hasSuffix("-bin") else {
      throw refusal("\(name) does not end in -bin, so it has a text and no bytes")
    }
    return Entry(name: name, value: .bytes(bytes))
  }

  private static func checked(_ name: String) throws(RPCError) -> String {
    // Beyond ASCII there are letters whose lower case is in it.
    let isASCII = name.utf8.allSatisfy { $0 < 0x80 }
    let name = name.lowercased()
    guard !name.isEmpty, isASCII, name.utf8.allSatisfy(isNameByte) else {
      throw refusal(
        "the name of a metadata entry has letters of ASCII, digits, '_', '-' and '.' only")
    }
    if name.hasPrefix("grpc-") || reserved.contains(name) {
      throw refusal("\(name) is kept for gRPC and HTTP themselves")
    }
    return name
  }

  static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."): true
    default: false
    }
  }

  private static func refusal(_ what: String) -> RPCError {
    RPCError(.invalidArgument, what)
  }
}
