import SQBasics

/// The secrets of a request, to remove from a server's texts.
package struct SentSecrets: Sendable {
  private let values: [String]
  /// The secrets that a person may have chosen; they may be ordinary words.
  private let passwords: [String]
  /// Whether each text that looks like a JWT counts as a secret.
  private let includesJWTs: Bool

  /// Stores the secrets, except those of fewer than 4 bytes.
  ///
  /// Removing such short texts would damage ordinary words. With `includesJWTs`, each text that looks
  /// like a JWT is removed too, for a caller that no longer has what it sent.
  package init(_ values: [String], passwords: [String] = [], includesJWTs: Bool = false) {
    self.values = (values + passwords).filter { $0.utf8.count >= 4 }
    self.passwords = passwords.filter { $0.utf8.count >= 4 }
    self.includesJWTs = includesJWTs
  }

  /// Replaces each secret in a server's text.
  ///
  /// A secret is also found if some or all of its characters are escaped as in a URL, in a form or
  /// in JSON.
  package func removed(from text: String) -> String {
    // This limit is far above the length of any text that is shown, and it keeps the search fast.
    let text = String(String.UnicodeScalarView(text.unicodeScalars.prefix(16_384)))
    let asSent = blotted(text)
    // A shown text has no unprintable characters. If they interrupt a secret, it is readable only
    // without them, so look for secrets in the shown text too.
    let shown = asSent.withoutUnprintable
    let asShown = blotted(shown)
    return asShown == shown ? asSent : asShown
  }

  /// Removes the secrets from a sentence; returns `nil` if a password in it looks like a word.
  ///
  /// Without such a word, the sentence would puzzle its reader, and would reveal that the password
  /// is the missing word: "The password is [removed]."
  package func removed(fromSentence text: String) -> String? {
    let words = SentSecrets(passwords.filter(Self.isLikeWord))
    guard words.removed(from: text) == SentSecrets([]).removed(from: text) else { return nil }
    return removed(from: text)
  }

  private static func isLikeWord(_ secret: String) -> Bool {
    secret.utf8.allSatisfy(\.isLetter)
  }

  private func blotted(_ text: String) -> String {
    let bytes = Array(text.utf8)
    var found: [Range<Int>] = []
    for notation in DecodedText.Notation.allCases {
      let decoded = DecodedText(bytes, notation)
      for secret in values { found += decoded.places(of: secret) }
      if includesJWTs { found += decoded.placesOfJWTs() }
    }
    guard !found.isEmpty else { return text }
    var shown: [UInt8] = []
    var end = 0
    for place in found.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if place.lowerBound >= end {
        shown += bytes[end..<place.lowerBound]
        shown += "[removed]".utf8
      }
      end = max(end, place.upperBound)
    }
    return String(decoding: shown + bytes[end...], as: UTF8.self)
  }
}

extension SentSecrets: Redacted {
  package var description: String { "\(values.count) secrets" }
}
