extension String {
  /// The maximum number of combining marks in a row of a text in Stream-Safe Text Format.
  ///
  /// Swift brings the marks after a letter into an order before it compares or hashes a text, and
  /// the time for that is the square of their number: minutes for a megabyte. No language needs
  /// more than 30.
  ///
  /// - SeeAlso: Unicode Standard Annex #15, section 13
  package static var maximumMarks: Int { 30 }

  /// Decodes a text that a peer sent, so that comparing and hashing it takes linear time.
  ///
  /// Bytes that are not UTF-8 become U+FFFD. Where more than 30 combining marks follow each other,
  /// U+034F is inserted after each 30 of them, as in ``streamSafe``.
  package init(streamSafe bytes: some Collection<UInt8>) {
    self = String(decoding: bytes, as: UTF8.self).streamSafe
  }

  /// Whether no more than 30 combining marks follow each other.
  package var isStreamSafe: Bool {
    // Each mark has at least two bytes, so one of these places is in any 31 marks in a row.
    let step = 2 * Self.maximumMarks
    var place = startIndex
    while let next = utf8.index(place, offsetBy: step, limitedBy: endIndex), next < endIndex {
      guard !unicodeScalars[next].isMark || !isInLongRun(next) else { return false }
      place = next
    }
    return true
  }

  private func isInLongRun(_ place: Index) -> Bool {
    var count = 0
    for scalar in unicodeScalars[..<place].reversed() {
      guard scalar.isMark, count <= Self.maximumMarks else { break }
      count += 1
    }
    for scalar in unicodeScalars[place...] {
      guard scalar.isMark, count <= Self.maximumMarks else { break }
      count += 1
    }
    return count > Self.maximumMarks
  }

  /// The text with U+034F (combining grapheme joiner) after each 30 combining marks in a row.
  ///
  /// The joiner is invisible, and separates marks that would otherwise be put into an order.
  ///
  /// - SeeAlso: Unicode Standard Annex #15, section 13, "Stream-Safe Text Process"
  package var streamSafe: String {
    guard !isStreamSafe else { return self }
    var safe = UnicodeScalarView()
    var run = 0
    for scalar in unicodeScalars {
      run = scalar.isMark ? run + 1 : 0
      if run > Self.maximumMarks {
        safe.append("\u{34F}")
        run = 1
      }
      safe.append(scalar)
    }
    return String(safe)
  }
}

extension Unicode.Scalar {
  /// Whether the order of this character and of its neighbours may change without a change of the
  /// text.
  fileprivate var isMark: Bool {
    // The first combining mark is U+0300.
    value >= 0x300 && properties.canonicalCombiningClass != .notReordered
  }
}
