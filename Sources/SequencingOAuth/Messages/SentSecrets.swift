import SQBasics

/// The secrets of a request, to remove from a server's texts.
package struct SentSecrets: Sendable {
  private let values: [String]
  /// The secrets that a person may have chosen; they may be ordinary words.
  private let passwords: [String]

  /// Stores the secrets, except those of fewer than 4 bytes.
  ///
  /// Removing such short texts would damage ordinary words.
  package init(_ values: [String], passwords: [String] = []) {
    self.values = (values + passwords).filter { $0.utf8.count >= 4 }
    self.passwords = passwords.filter { $0.utf8.count >= 4 }
  }

  /// Replaces each secret in a server's text, in plain and in form-encoded spelling.
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
    secret.utf8.allSatisfy { (0x61...0x7A).contains($0 | 0x20) }
  }

  private func blotted(_ text: String) -> String {
    var scalars = text.unicodeScalars
    let mark = "[removed]".unicodeScalars
    for secret in values {
      // Compare Unicode scalars: a combining mark after a secret would change the secret's last
      // character.
      scalars.replace(secret.unicodeScalars, with: mark)
      scalars.replace(FormCoding.encodeValue(secret).unicodeScalars, with: mark)
      scalars.replace(FormCoding.encodeCredential(secret).unicodeScalars, with: mark)
    }
    return String(scalars)
  }
}

extension SentSecrets: Redacted {
  package var description: String { "\(values.count) secrets" }
}
