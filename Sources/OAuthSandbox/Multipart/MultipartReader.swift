import SQBasics
import SQFoundation
import SQLibC

/// A reader that splits a `multipart/form-data` body into its parts (RFC 2046, section 5.1; RFC
/// 7578).
///
/// It is strict: lines end in CR LF, every part has a head, and the last delimiter is required.
/// Contents are slices of the body, so they are not copied.
struct MultipartReader: Redacted {
  private static let maximumParts = 64
  private static let maximumHeadBytes = 8 * 1024
  private static let lineEnd: [UInt8] = [0x0D, 0x0A]

  private let body: Data
  /// The delimiter's bytes, `CR LF -- boundary`.
  ///
  /// The line end belongs to the delimiter, not to the content before it.
  private let delimiter: [UInt8]
  private var position = 0

  /// Returns the parts of a body, in order.
  static func parts(of body: Data, contentType: String) throws(MultipartFault) -> [MultipartPart] {
    guard let type = FieldParameters(contentType), type.value == "multipart/form-data",
      let boundary = type["boundary"], isBoundary(boundary)
    else { throw MultipartFault("Content-Type names no valid boundary.") }
    var reader = MultipartReader(body: body, boundary: boundary)
    return try reader.read()
  }

  private init(body: Data, boundary: String) {
    self.body = body
    delimiter = Array("\r\n--\(boundary)".utf8)
  }

  private static func isBoundary(_ text: String) -> Bool {
    (1...70).contains(text.utf8.count) && text.last != " "
      && text.utf8.allSatisfy { $0.isAlphanumeric || "'()+_,-./:=? ".utf8.contains($0) }
  }

  // MARK: The body

  private mutating func read() throws(MultipartFault) -> [MultipartPart] {
    if bytes(at: 0, are: delimiter[2...]) {
      position = delimiter.count - 2
    } else {
      _ = try takeContent(orElse: "The body does not begin with its boundary.")
    }
    var parts: [MultipartPart] = []
    while try !takeEnd() {
      guard parts.count < Self.maximumParts else {
        throw MultipartFault("The form has more than \(Self.maximumParts) parts.")
      }
      let head = try takeHead()
      let content = try takeContent(orElse: "The last boundary is missing.")
      parts.append(try MultipartPart(head: head, content: content))
    }
    return parts
  }

  /// Reads the rest of a delimiter's line, and returns whether it was the last delimiter,
  /// `--boundary--`.
  private mutating func takeEnd() throws(MultipartFault) -> Bool {
    let isLast = bytes(at: position, are: [0x2D, 0x2D])
    if isLast { position += 2 }
    while bytes(at: position, are: [0x20]) || bytes(at: position, are: [0x09]) { position += 1 }
    // An epilogue may follow the last delimiter; it is ignored.
    if isLast && position == body.count { return true }
    guard bytes(at: position, are: Self.lineEnd[...]) else {
      throw MultipartFault("A line begins with the boundary but does not end after it.")
    }
    position += 2
    return isLast
  }

  /// Takes the lines up to an empty line.
  private mutating func takeHead() throws(MultipartFault) -> [String] {
    var lines: [String] = []
    let limit = min(body.count, position + Self.maximumHeadBytes)
    while let end = find(Self.lineEnd, from: position, to: limit) {
      let line = slice(position, end)
      position = end + 2
      guard !line.isEmpty else { return lines }
      guard let text = String(validating: line, as: UTF8.self),
        line.allSatisfy({ ($0 >= 0x20 || $0 == 0x09) && $0 != 0x7F })
      else { throw MultipartFault("The head of a part is not text.") }
      lines.append(text)
    }
    throw MultipartFault("The head of a part has no end or is longer than 8 KiB.")
  }

  /// Takes the bytes up to the next delimiter, and the delimiter itself.
  private mutating func takeContent(orElse missing: String) throws(MultipartFault) -> Data {
    guard let end = find(delimiter, from: position, to: body.count) else {
      throw MultipartFault(missing)
    }
    defer { position = end + delimiter.count }
    return slice(position, end)
  }

  // MARK: Bytes, counted from the start of the body

  private func slice(_ start: Int, _ end: Int) -> Data {
    body[(body.startIndex + start)..<(body.startIndex + end)]
  }

  private func bytes(at offset: Int, are expected: ArraySlice<UInt8>) -> Bool {
    offset + expected.count <= body.count
      && slice(offset, offset + expected.count).elementsEqual(expected)
  }

  /// Returns the first position of some bytes within a range.
  ///
  /// The C library compares the bytes, because contents are large and this code may be built
  /// without optimization.
  private func find(_ pattern: [UInt8], from start: Int, to end: Int) -> Int? {
    body.withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress, let first = pattern.first else { return nil }
      var offset = start
      while offset + pattern.count <= end,
        let found = memchr(base + offset, Int32(first), end - pattern.count + 1 - offset)
      {
        offset = UnsafeRawPointer(found) - base
        if memcmp(base + offset, pattern, pattern.count) == 0 { return offset }
        offset += 1
      }
      return nil
    }
  }
}
