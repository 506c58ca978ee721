import SQFoundation

/// JSON without braces in its strings, for keyrings that replace texts in braces.
///
/// KeePassXC replaces its placeholders when a program reads a secret. `{USERNAME}` in a client's ID
/// would become the item's user name. `{DB_DIR}` in a refresh token would become the folder of the
/// user's database, and the next refresh would send that folder to the server.
enum PlainJSON {
  /// Writes each brace in a string as a JSON escape sequence.
  static func escapingBraces(_ json: Data) -> Data {
    var escaped = Data(capacity: json.count)
    var isInString = false
    var isEscaped = false
    for byte in json {
      switch byte {
      case _ where isEscaped: isEscaped = false
      case UInt8(ascii: "\\"): isEscaped = isInString
      case UInt8(ascii: "\""): isInString.toggle()
      case UInt8(ascii: "{") where isInString:
        escaped += Data(#"\u007b"#.utf8)
        continue
      case UInt8(ascii: "}") where isInString:
        escaped += Data(#"\u007d"#.utf8)
        continue
      default: break
      }
      escaped.append(byte)
    }
    return escaped
  }
}
