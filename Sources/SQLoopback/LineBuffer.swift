import SQFoundation

/// A buffer of received bytes from which lines and bodies are taken.
///
/// It checks each byte of a line once, even if the bytes arrive one at a time.
struct LineBuffer {
  private var bytes: [UInt8] = []
  /// The index of the first byte that is still to be taken.
  private var start = 0
  /// The index of the first byte that is not checked yet; no line ends between `start` and it.
  private var scanned = 0
  /// The number of bytes that the next lines may take, including their line ends.
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

  /// Sets the number of bytes that the next lines may take.
  mutating func refill(budget: Int) {
    self.budget = budget
  }

  /// Removes and returns the next line without its CR LF; returns `nil` if it is incomplete.
  ///
  /// It throws as soon as a line feed or a carriage return arrives without the other, or a control
  /// character other than the tab arrives (RFC 9112, section 2.2). It throws `tooLong` if the
  /// budget is used up.
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

  /// Moves up to `limit` bytes into a body and returns their number.
  mutating func move(atMost limit: Int, to body: inout Data) -> Int {
    let count = min(limit, count)
    guard count > 0 else { return 0 }
    bytes.withUnsafeBytes { body.append(contentsOf: $0[start..<(start + count)]) }
    start += count
    scanned = start
    return count
  }
}
