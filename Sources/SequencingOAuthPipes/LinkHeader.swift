import SQBasics
import SequencingOAuth

/// A parser that finds the URL of each relation in a response's `Link` fields.
///
/// - SeeAlso: RFC 8288, section 3
enum LinkHeader {
  /// The maximum number of relations to read.
  private static let maximumRelations = 64

  /// Returns the first target of each relation, by the relation's name in lower case.
  ///
  /// A link with an `anchor` is about another resource and is ignored. After a malformed link, the
  /// rest of its field is ignored; the links before it are used.
  static func links(in fields: [String]) -> [String: String] {
    var targets: [String: String] = [:]
    for field in fields {
      var reader = LinkReader(field)
      while let link = reader.next() {
        guard !link.hasAnchor else { continue }
        for relation in link.relations where targets[relation] == nil {
          guard targets.count < maximumRelations else { return targets }
          targets[relation] = link.target
        }
      }
    }
    return targets
  }
}

/// A parser of the links in one field, in order.
private struct LinkReader {
  struct Link {
    var target: String
    var relations: [String] = []
    var hasAnchor = false
  }

  private var rest: Substring.UTF8View

  init(_ field: String) {
    rest = Substring(field).utf8
  }

  /// Reads the next link, `<target>; name=value; name="value"`, up to the comma after it.
  ///
  /// Returns `nil` at the end of the field or if the link is malformed.
  mutating func next() -> Link? {
    skip { $0 == UInt8(ascii: ",") || Self.isSpace($0) }
    guard take(UInt8(ascii: "<")) else { return nil }
    var link = Link(target: read { $0 != UInt8(ascii: ">") })
    guard take(UInt8(ascii: ">")) else { return nil }
    var hasRelation = false
    while true {
      skip(Self.isSpace)
      guard take(UInt8(ascii: ";")) else { return link }
      skip(Self.isSpace)
      let name = read(Self.isNameByte).asciiLowercased()
      skip(Self.isSpace)
      guard take(UInt8(ascii: "=")) else { continue }
      skip(Self.isSpace)
      guard let value = value() else { return nil }
      // A second `rel` of a link is ignored (RFC 8288, section 3.3).
      if name == "rel", !hasRelation {
        hasRelation = true
        link.relations = value.asciiLowercased().words
      }
      if name == "anchor" { link.hasAnchor = true }
    }
  }

  private mutating func value() -> String? {
    guard take(UInt8(ascii: "\"")) else {
      return read { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") && !Self.isSpace($0) }
    }
    var text: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""): return String(streamSafe: text)
      case UInt8(ascii: "\\"):
        guard let escaped = rest.popFirst() else { return nil }
        text.append(escaped)
      default: text.append(byte)
      }
    }
    return nil
  }

  private mutating func skip(_ isSkipped: (UInt8) -> Bool) {
    rest = rest.drop(while: isSkipped)
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard rest.first == byte else { return false }
    rest = rest.dropFirst()
    return true
  }

  private mutating func read(_ isRead: (UInt8) -> Bool) -> String {
    let text = rest.prefix(while: isRead)
    rest = rest[text.endIndex...]
    return String(decoding: text, as: UTF8.self)
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    !isSpace(byte) && !"=;,\"".utf8.contains(byte)
  }
}
