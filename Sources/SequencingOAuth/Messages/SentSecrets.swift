import Basics

/// What a request held and no text may repeat, though a server put it there.
package struct SentSecrets: Sendable {
  private let values: [String]

  /// Takes the secrets; very short ones would blot out words, and are no secrets.
  package init(_ values: [String]) {
    self.values = values.filter { $0.utf8.count >= 4 }
  }

  /// A server's text in which each secret is blotted out, also in its form encoding.
  package func removed(from text: String) -> String {
    // Far more than is shown, and little enough to search.
    let text = String(String.UnicodeScalarView(text.unicodeScalars.prefix(16_384)))
    let asSent = blotted(text)
    // What is shown has no unprintable characters, and so may hold a secret that they take apart.
    let shown = asSent.printable(atMost: .max)
    let asShown = blotted(shown)
    return asShown == shown ? asSent : asShown
  }

  private func blotted(_ text: String) -> String {
    var scalars = text.unicodeScalars
    let mark = "[removed]".unicodeScalars
    for secret in values {
      // By scalars: a combining mark behind a secret would make its last character another one.
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
