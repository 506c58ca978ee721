#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The bytes of a connection that no request has taken yet, from which lines and bodies are cut.
///
/// Every byte is looked at once, even when they come one at a time.
struct LineBuffer {
  private var bytes: [UInt8] = []
  /// The first byte that is still here.
  private var start = 0
  /// Everything before this has been checked and ends no line.
  private var scanned = 0
  /// What the lines of this request may still take, their ends included.
  private var budget: Int

  init(budget: Int) {
    self.budget = budget
  }

  var count: Int { bytes.count - start }

  mutating func append(_ more: UnsafeRawBufferPointer) {
    if start > 0 {
      // What is left is usually nothing, or less than one head.
      bytes.removeSubrange(..<start)
      scanned -= start
      start = 0
    }
    bytes.append(contentsOf: more)
  }

  /// Starts the account of the next request.
  mutating func refill(budget: Int) {
    self.budget = budget
  }

  /// The next line without its CR LF; `nil` while it is not complete.
  ///
  /// A line feed without a carriage return, a carriage return without a line feed and any other
  /// control character but the tab are refused as soon as they are seen (RFC 9112, section 2.2).
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

  /// Moves bytes into a body and says how many there were.
  mutating func move(atMost limit: Int, to body: inout Data) -> Int {
    let count = min(limit, count)
    guard count > 0 else { return 0 }
    bytes.withUnsafeBytes { body.append(contentsOf: $0[start..<(start + count)]) }
    start += count
    scanned = start
    return count
  }
}
