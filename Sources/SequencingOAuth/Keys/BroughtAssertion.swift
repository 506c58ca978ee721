import SQBasics

/// An assertion from a source, before it is checked.
///
/// Its signature is not verified: only the server knows the signer's keys.
struct BroughtAssertion: Redacted {
  /// The size of the longest assertion, in bytes.
  static let longest = CompactJWS.maximumSize

  private let text: String

  /// Creates the assertion from the source's text, without the white space at the end.
  ///
  /// Files and the output of commands often end with a line break.
  init(_ text: String) {
    let end = text.utf8.lastIndex { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    self.text = String(text[..<(end.map(text.utf8.index(after:)) ?? text.startIndex)])
  }

  /// Returns the text if it is a signed JSON Web Token for this audience.
  ///
  /// - Throws: ``SQOAuthError/Code/clientKeyFailed``; no error quotes the text.
  func text(for audience: String) throws(SQOAuthError) -> String {
    let claims: [String: JSONValue]
    do throws(JWSFailure) {
      claims = try CompactJWS(text).claims()
    } catch {
      throw Self.refused("it \(Self.words(of: error))")
    }
    guard Self.names(in: claims["aud"]).contains(audience) else {
      throw Self.refused(
        "it is not for \"\(audience.printable)\" (its claim aud); let the platform issue it for that "
          + "audience, or set the provider's assertionAudience")
    }
    return text
  }

  private static func names(in audience: JSONValue?) -> [String] {
    switch audience {
    case .string(let name)?: [name]
    case .array(let names)?: names.compactMap(\.string)
    default: []
    }
  }

  private static func refused(_ reason: String) -> SQOAuthError {
    SQOAuthError(.clientKeyFailed, "the assertion from its source was not sent: \(reason)")
  }

  private static func words(of failure: JWSFailure) -> String {
    switch failure {
    case .tooLong: "has more than \(longest) bytes"
    case .encrypted: "is encrypted"
    case .critical: "demands an extension (crit)"
    case .malformed(let reason): "is no signed JSON Web Token: \(reason)"
    default: "is no signed JSON Web Token"
    }
  }

  var description: String { "assertion" }
}
