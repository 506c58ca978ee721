import Basics

/// The line that announces a chunk (RFC 9112, section 7.1).
enum ChunkSize {
  /// What the line of a chunk may take, with its extensions and the end of the chunk.
  static let maximumLineBytes = 256
  /// Digits enough for any body that is accepted, and too few to overflow.
  private static let maximumDigits = 15

  /// Reads the size, which may take the `room` that is left of a body.
  ///
  /// Extensions after `;` are skipped, since none is known here.
  static func read(_ line: ArraySlice<UInt8>, room: Int) throws(RequestFault) -> Int {
    let digits = line.prefix { $0.hexadecimalValue != nil }
    guard !digits.isEmpty else { throw .badRequest }
    // White space between the size and the end of the line is read differently by different
    // servers, so only the grammar's own `;` may follow.
    guard digits.count == line.count || line[digits.endIndex] == ASCII.semicolon else {
      throw .badRequest
    }
    guard digits.count <= maximumDigits else { throw .contentTooLarge }
    let size = digits.reduce(0) { $0 * 16 + Int($1.hexadecimalValue ?? 0) }
    guard size <= room else { throw .contentTooLarge }
    return size
  }
}
