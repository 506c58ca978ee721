import SQBasics
import SQFoundation
package import SQHTTP2
package import SequencingOAuth

/// The conversion between metadata and header fields.
extension RPCMetadata {
  /// The names of header fields that are part of the protocol and not metadata.
  private static let ownNames: Set<String> = [
    "content-type", "content-length", "grpc-status", "grpc-message", "grpc-encoding",
    "grpc-accept-encoding", "te", "trailer",
  ]

  /// Creates metadata from header fields, without the fields of the protocol itself.
  ///
  /// The field of a `-bin` name may contain several values separated by commas, as HTTP allows,
  /// with or without padding. A value that is not base64 is left out.
  package init(fields: HeaderFields, removing secrets: SentSecrets = SentSecrets([])) {
    var entries: [Entry] = []
    for field in fields {
      let name = field.name.lowercased()
      if Self.ownNames.contains(name) { continue }
      if name.hasSuffix("-bin") {
        for part in field.value.split(separator: ",", omittingEmptySubsequences: false) {
          guard let bytes = Base64.decode(part) else { continue }
          entries.append(Entry(name: name, value: .bytes(bytes)))
        }
      } else {
        // Some servers repeat the received token in `www-authenticate`, so the token is removed.
        let text =
          name == "www-authenticate" ? secrets.removed(from: field.value) : field.value
        entries.append(Entry(name: name, value: .text(text)))
      }
    }
    self.init(received: entries)
  }

  /// Appends the metadata to a header block; `others` replace entries with the same names.
  package func write(to block: inout HeaderBlock, replacing others: HeaderFields = [:]) {
    for entry in entries where others[entry.name] == nil {
      switch entry.value {
      case .text(let text): block.append(entry.name, text)
      case .bytes(let data): block.append(entry.name, Base64.encode(data))
      }
    }
    for field in others { block.append(field.name.lowercased(), field.value) }
  }
}

/// Base64 in gRPC's form: written without padding, read with or without it.
enum Base64 {
  static func encode(_ data: Data) -> String {
    var text = data.base64EncodedString()
    while text.utf8.last == UInt8(ascii: "=") { text.removeLast() }
    return text
  }

  static func decode(_ text: some StringProtocol) -> Data? {
    var bytes = text.utf8.filter { $0 != 0x20 && $0 != 0x09 }
    while bytes.last == UInt8(ascii: "=") { bytes.removeLast() }
    if bytes.count % 4 == 1 { return nil }
    while bytes.count % 4 != 0 { bytes.append(UInt8(ascii: "=")) }
    return Data(base64Encoded: Data(bytes))
  }
}
