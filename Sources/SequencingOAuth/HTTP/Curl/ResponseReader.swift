import Basics

/// Gathers the lines of a response's head and of its trailers as libcurl hands them over.
///
/// It copies bytes and counts them; making strings of them is left to ``head()``, which runs on
/// the caller's thread.
struct ResponseReader {
  /// How many fields a response may have, heads of status 1xx and trailers included.
  static let maximumFields = 256
  /// How many bytes they may have together.
  static let maximumBytes = 256 * 1024

  private var headLines: [UInt8] = []
  private var trailerLines: [UInt8] = []
  private var fieldCount = 0
  private var byteCount = 0
  /// Whether the empty line behind a final head was seen.
  private(set) var isHeadComplete = false
  private(set) var status = 0
  private(set) var isHTTP2 = false

  /// Whether the response is over: libcurl gives the trailers of HTTP/2 when the server has closed
  /// the stream, and only where it did so properly.
  var isOver: Bool { isHTTP2 && !trailerLines.isEmpty }

  /// Takes a line with its line end.
  ///
  /// - Returns: `false` when the response has too many of them.
  mutating func take(_ line: UnsafeRawBufferPointer) -> Bool {
    byteCount += line.count
    fieldCount += 1
    guard byteCount <= Self.maximumBytes, fieldCount <= Self.maximumFields else { return false }
    let isEmpty = line.first == 0x0D || line.first == 0x0A
    if isHeadComplete {
      if !isEmpty { trailerLines.append(contentsOf: line) }
    } else if line.starts(with: "HTTP/".utf8) {
      // A head of status 1xx came before this one.
      headLines.removeAll(keepingCapacity: true)
      headLines.reserveCapacity(512)
      status = Self.status(line)
      isHTTP2 = line.starts(with: "HTTP/2".utf8)
    } else if isEmpty {
      isHeadComplete = status >= 200
    } else {
      headLines.append(contentsOf: line)
    }
    return true
  }

  /// The head, or `nil` where it never came to its end or is malformed.
  func head() -> HTTPResponseHead? {
    guard isHeadComplete, (200...599).contains(status) else { return nil }
    guard let headers = HTTPFields(lines: headLines), headers.haveOneLength else { return nil }
    return HTTPResponseHead(status: status, headers: headers)
  }

  /// The trailer fields, or `nil` where they are malformed.
  func trailers() -> HTTPFields? {
    trailerLines.isEmpty ? [:] : HTTPFields(lines: trailerLines)
  }

  /// The three digits behind the first space (RFC 9112, section 4), or 0.
  private static func status(_ line: UnsafeRawBufferPointer) -> Int {
    let digits = line.drop { $0 != 0x20 }.dropFirst().prefix(3)
    guard digits.count == 3, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return 0 }
    return digits.reduce(0) { $0 * 10 + Int($1 & 0x0F) }
  }
}

extension HTTPFields {
  /// Whether `Content-Length` is one number, where it is there; it may be said several times.
  ///
  /// libcurl takes the digits that it finds, of the last one.
  ///
  /// - SeeAlso: RFC 9112, section 6.3
  fileprivate var haveOneLength: Bool {
    var length: Substring?
    for field in self where field.name.utf8.count == 14 {
      guard field.name.lowercased() == "content-length" else { continue }
      for part in field.value.split(separator: ",", omittingEmptySubsequences: false) {
        let digits = String(part).trimmed
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
          length == nil || length == digits
        else { return false }
        length = digits
      }
    }
    return true
  }

  /// Reads field lines (RFC 9112, section 5); `nil` where one has no name.
  ///
  /// A name may be followed by its value at once. A folded line, which starts with white space,
  /// continues the value above it (section 5.2). Bytes that are no UTF-8 become U+FFFD.
  init?(lines: [UInt8]) {
    var fields: [Field] = []
    fields.reserveCapacity(12)
    var rest = lines[...]
    while !rest.isEmpty {
      let line = rest.prefix { $0 != 0x0A }
      rest = rest[line.endIndex...].dropFirst()
      if line.first == 0x20 || line.first == 0x09 {
        guard let last = fields.popLast() else { return nil }
        fields.append(Field(name: last.name, value: "\(last.value) \(Self.text(line))"))
        continue
      }
      guard let colon = line.firstIndex(of: 0x3A), colon != line.startIndex else { return nil }
      fields.append(
        Field(
          name: Self.text(line[..<colon]), value: Self.text(line[line.index(after: colon)...])))
    }
    self.init(fields)
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    var bytes = bytes.drop { $0 == 0x20 || $0 == 0x09 }
    while let last = bytes.last, last == 0x20 || last == 0x09 || last == 0x0D {
      bytes.removeLast()
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
