#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The received bytes that no request has taken yet; lines and bodies are cut from it.
///
/// It looks at each byte once, even when the bytes come one at a time.
struct LineBuffer {
  private var bytes: [UInt8] = []
  /// The index of the first byte that is not taken yet.
  private var start = 0
  /// Every byte before this index is checked and ends no line.
  private var scanned = 0
  /// How many bytes the lines of this request may still take, with their line ends.
  private var budget: Int

  init(budget: Int) {
    self.budget = budget
  }

  var count: Int { bytes.count - start }

  mutating func append(_ more: UnsafeRawBufferPointer) {
    if start > 0 {
      // Usually nothing is left, or less than one head, so this moves few bytes.
      bytes.removeSubrange(..<start)
      scanned -= start
      start = 0
    }
    bytes.append(contentsOf: more)
  }

  /// Sets how many bytes the lines that follow may take.
  mutating func refill(budget: Int) {
    self.budget = budget
  }

  /// Takes the next line, without its CR LF; returns `nil` if it is not complete yet.
  ///
  /// A line feed without a carriage return, a carriage return without a line feed, and any control
  /// character other than the tab are refused as soon as they arrive (RFC 9112, section 2.2).
  mutating func take(orElse tooLong: RequestFault) throws(RequestFault) -> ArraySlice<UInt8>? {
    let end = min(bytes.count, start + budget)
    while scanned < end {
      let byte = bytes[scanned]
      let followsReturn = scanned > start && bytes[scanned - 1] == ASCII.carriageReturn
      guard followsReturn == (byte == ASCII.lineFeed) else { throw .badRequest }
      if followsReturn {
        let line = bytes[start..<(scanned - 1)]
        scanned += 1
        budget -= scanned - start
        start = scanned
        return line
      }
      guard !ASCII.isControl(byte) || byte == ASCII.carriageReturn else { throw .badRequest }
      scanned += 1
    }
    guard count < budget else { throw tooLong }
    return nil
  }

  /// Moves bytes into a body and returns their number.
  mutating func move(atMost limit: Int, to body: inout Data) -> Int {
    let count = min(limit, count)
    guard count > 0 else { return 0 }
    bytes.withUnsafeBytes { body.append(contentsOf: $0[start..<(start + count)]) }
    start += count
    scanned = start
    return count
  }
}
