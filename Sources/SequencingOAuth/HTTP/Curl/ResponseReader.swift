import SQBasics

/// A collector of the lines of a response's head and trailers, as libcurl delivers them.
///
/// It only copies and counts bytes. ``head()`` and ``trailers()`` make strings from them; unless
/// the response is streamed, they run on the caller's thread.
struct ResponseReader {
  /// The maximum number of lines in a response's trailers and heads, including heads of status 1xx.
  static let maximumLines = 256
  /// The maximum total size of the lines of a response's heads and trailers, in bytes.
  static let maximumBytes = 256 * 1024

  private var headLines: [UInt8] = []
  private var trailerLines: [UInt8] = []
  private var lineCount = 0
  private var byteCount = 0
  /// Whether the empty line after the final head was read; a head with a 1xx status is not final.
  private(set) var isHeadComplete = false
  private(set) var status = 0
  private(set) var isHTTP2 = false

  /// Whether the response is known to be complete because its HTTP/2 trailers arrived.
  ///
  /// libcurl delivers HTTP/2 trailers after the server has closed the stream, and only if the
  /// server has closed it properly.
  var isOver: Bool { isHTTP2 && !trailerLines.isEmpty }

  /// Creates a reader with memory for an ordinary head, on the thread that will free it.
  init() {
    headLines.reserveCapacity(512)
  }

  /// Stores a line, which includes its line end.
  ///
  /// - Returns: `false` if the response has too many lines, or too many bytes in them.
  mutating func take(_ line: UnsafeRawBufferPointer) -> Bool {
    byteCount += line.count
    lineCount += 1
    guard byteCount <= Self.maximumBytes, lineCount <= Self.maximumLines else { return false }
    let isEmpty = line.first == 0x0D || line.first == 0x0A
    if isHeadComplete {
      if !isEmpty { trailerLines.append(contentsOf: line) }
    } else if line.starts(with: "HTTP/".utf8) {
      // This line begins a new head. If a head came before it, that head had a 1xx status.
      headLines.removeAll(keepingCapacity: true)
      status = Self.status(line)
      isHTTP2 = line.starts(with: "HTTP/2".utf8)
    } else if isEmpty {
      isHeadComplete = status >= 200
    } else {
      headLines.append(contentsOf: line)
    }
    return true
  }

  /// Returns the head, or `nil` if it is incomplete or malformed.
  func head() -> WebResponseHead? {
    guard isHeadComplete, (200...599).contains(status) else { return nil }
    guard let headers = HeaderFields(lines: headLines), headers.haveOneLength else { return nil }
    return WebResponseHead(status: status, headers: headers)
  }

  /// Returns the trailer fields, or `nil` if they are malformed.
  func trailers() -> HeaderFields? {
    trailerLines.isEmpty ? [:] : HeaderFields(lines: trailerLines)
  }

  /// Returns the three digits after the first space (RFC 9112, section 4), or 0.
  private static func status(_ line: UnsafeRawBufferPointer) -> Int {
    let digits = line.drop { $0 != 0x20 }.dropFirst().prefix(3)
    guard digits.count == 3, digits.allSatisfy(\.isDigit) else { return 0 }
    return digits.reduce(0) { $0 * 10 + Int($1 & 0x0F) }
  }
}

extension HeaderFields {
  /// Whether `Content-Length` is missing or has a single value, which may be repeated.
  ///
  /// libcurl would accept any digits that it finds in the last of the fields.
  ///
  /// - SeeAlso: RFC 9112, section 6.3
  fileprivate var haveOneLength: Bool {
    var length: Substring.UTF8View?
    for field in self where field.name.utf8.count == 14 {
      guard field.name.asciiLowercased() == "content-length" else { continue }
      for part in field.value.utf8.split(separator: 0x2C, omittingEmptySubsequences: false) {
        let digits = part.trimmed
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit),
          length?.elementsEqual(digits) ?? true
        else { return false }
        length = digits
      }
    }
    return true
  }

  /// Parses field lines (RFC 9112, section 5); returns `nil` if a line has no name.
  ///
  /// White space after the colon is optional. A folded line, which starts with white space,
  /// continues the value of the line before it (section 5.2). Bytes that are not UTF-8 become
  /// U+FFFD, and the text is made stream-safe.
  init?(lines: [UInt8]) {
    var fields: [Field] = []
    fields.reserveCapacity(12)
    var rest = lines[...]
    while !rest.isEmpty {
      let line = rest.prefix { $0 != 0x0A }
      rest = rest[line.endIndex...].dropFirst()
      if let first = line.first, first.isBlank {
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
    var bytes = bytes.drop(while: \.isBlank)
    while let last = bytes.last, last.isBlank || last == 0x0D {
      bytes = bytes.dropLast()
    }
    return String(streamSafe: bytes)
  }
}
