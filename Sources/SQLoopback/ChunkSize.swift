import SQBasics

/// Reads the line that comes before a chunk of a body (RFC 9112, section 7.1).
enum ChunkSize {
  /// The most bytes for the line of a chunk with its extensions, and for the end of that chunk.
  static let maximumLineBytes = 256
  /// Enough digits for every body that is accepted, and too few to overflow.
  private static let maximumDigits = 15

  /// Reads the size of a chunk; throws if it exceeds `room`, which is what the body may still take.
  ///
  /// Extensions after `;` are skipped, since this server knows none.
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
