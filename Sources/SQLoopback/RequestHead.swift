import SQBasics

/// An error that rejects a request, with the status of the server's answer.
package struct RequestFault: Error, Hashable {
  package let status: Int

  static let badRequest = Self(status: 400)
  static let contentTooLarge = Self(status: 413)
  static let targetTooLong = Self(status: 414)
  static let expectationFailed = Self(status: 417)
  static let fieldsTooLarge = Self(status: 431)
  static let notImplemented = Self(status: 501)
  static let versionNotSupported = Self(status: 505)
}

/// The request line and header fields, checked line by line (RFC 9112, sections 3 and 5).
struct RequestHead: Redacted {
  private(set) var method = ""
  private(set) var target = ""
  /// The digit after the dot of `HTTP/1.x`.
  private(set) var minorVersion = 1
  private(set) var fields: [(name: String, value: String)] = []

  /// The maximum number of fields, which limits the memory; no client sends so many.
  private static let maximumFields = 128
  private static let maximumMethodBytes = 32

  /// Reads `method SP request-target SP HTTP-version` with exactly one space between the parts.
  init(requestLine line: ArraySlice<UInt8>) throws(RequestFault) {
    guard let firstSpace = line.firstIndex(of: ASCII.space),
      let lastSpace = line.lastIndex(of: ASCII.space), firstSpace < lastSpace
    else { throw .badRequest }
    let methodBytes = line[..<firstSpace]
    let targetBytes = line[line.index(after: firstSpace)..<lastSpace]
    minorVersion = try Self.minorVersion(of: line[line.index(after: lastSpace)...])

    guard !methodBytes.isEmpty, methodBytes.allSatisfy(ASCII.isToken) else { throw .badRequest }
    guard methodBytes.count <= Self.maximumMethodBytes else { throw .notImplemented }
    guard !targetBytes.isEmpty, targetBytes.allSatisfy(ASCII.isTarget) else { throw .badRequest }
    method = String(decoding: methodBytes, as: UTF8.self)
    target = String(decoding: targetBytes, as: UTF8.self)
  }

  /// Reads a line `field-name ":" OWS field-value OWS` and adds the field.
  ///
  /// It throws for a space before the colon and for a folded line, because attackers use both to
  /// smuggle requests.
  mutating func append(fieldLine line: ArraySlice<UInt8>) throws(RequestFault) {
    guard fields.count < Self.maximumFields else { throw .fieldsTooLarge }
    fields.append(try Self.field(line))
  }

  static func field(_ line: ArraySlice<UInt8>) throws(RequestFault) -> (name: String, value: String)
  {
    guard let colon = line.firstIndex(of: ASCII.colon), colon > line.startIndex,
      line[..<colon].allSatisfy(ASCII.isToken)
    else { throw .badRequest }
    var value = line[line.index(after: colon)...]
    while let byte = value.first, byte.isBlank { value = value.dropFirst() }
    while let byte = value.last, byte.isBlank { value = value.dropLast() }
    return (ASCII.lowercased(line[..<colon]), String(streamSafe: value))
  }

  /// Returns the values of all fields with a name, which must be in lower case.
  func values(of name: String) -> [String] {
    var values: [String] = []
    for field in fields where field.name == name { values.append(field.value) }
    return values
  }

  private static func minorVersion(of bytes: ArraySlice<UInt8>) throws(RequestFault) -> Int {
    let version = Array(bytes)
    guard version.count == 8, version.starts(with: "HTTP/".utf8), version[6] == ASCII.dot,
      version[5].isDigit, version[7].isDigit
    else { throw .badRequest }
    guard version[5] == ASCII.one else { throw .versionNotSupported }
    return Int(version[7] - ASCII.zero)
  }
}
