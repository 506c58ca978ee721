import SQBasics

/// A reader of the line that comes before a chunk of a body (RFC 9112, section 7.1).
enum ChunkSize {
  /// The maximum total size of a chunk's size line, its extensions included, and of the line end
  /// after the chunk, in bytes.
  static let maximumLineBytes = 256
  /// The maximum number of digits of a size: enough for every accepted body, too few to overflow.
  private static let maximumDigits = 15

  /// Reads the size of a chunk; throws if the line is malformed or the size exceeds `room`.
  ///
  /// `room` is the number of bytes that the body may still have. Extensions after `;` are ignored,
  /// because this server knows none.
  static func read(_ line: ArraySlice<UInt8>, room: Int) throws(RequestFault) -> Int {
    let digits = line.prefix { $0.hexadecimalValue != nil }
    guard !digits.isEmpty else { throw .badRequest }
    // Servers disagree about white space between the size and the end of the line, so only the `;`
    // of the grammar may follow.
    guard digits.count == line.count || line[digits.endIndex] == ASCII.semicolon else {
      throw .badRequest
    }
    guard digits.count <= maximumDigits else { throw .contentTooLarge }
    let size = digits.reduce(0) { $0 * 16 + Int($1.hexadecimalValue ?? 0) }
    guard size <= room else { throw .contentTooLarge }
    return size
  }
}
