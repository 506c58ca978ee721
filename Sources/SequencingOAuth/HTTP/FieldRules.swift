import SQBasics

extension HeaderFields.Field {
  /// The reason why the field cannot be sent unchanged; `nil` if there is none.
  ///
  /// A forbidden byte could end the field's line early, or receivers could read it in different
  /// ways. The text shows the name only if the name is a token, and never shows the value.
  ///
  /// - SeeAlso: RFC 9110, section 5
  package var flaw: String? {
    guard name.isFieldToken else {
      return "the name of a field is empty or has a forbidden character"
    }
    guard value.utf8.allSatisfy(\.isFieldValueByte) else {
      return "the value of \(name) has a byte that is neither printable ASCII nor a tab"
    }
    return nil
  }
}

extension String {
  /// Whether the text is a token: the form of a method and of a field's name.
  ///
  /// - SeeAlso: RFC 9110, sections 5.1 and 5.6.2
  var isFieldToken: Bool { !isEmpty && utf8.allSatisfy(\.isFieldTokenByte) }

  /// Whether a field can carry the text as an access token: visible ASCII without a space.
  package var isSendableToken: Bool {
    !isEmpty && utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  /// Whether the text has only visible ASCII characters and spaces, or is empty.
  ///
  /// - SeeAlso: VSCHAR in RFC 6749, appendix A
  package var isPrintableASCII: Bool { utf8.allSatisfy { (0x20...0x7E).contains($0) } }
}

extension UInt8 {
  /// Whether the byte may stand in a token.
  ///
  /// - SeeAlso: RFC 9110, section 5.6.2
  var isFieldTokenByte: Bool {
    switch self {
    case _ where isAlphanumeric: true
    // ! # $ % & ' * + - . and ^ _ ` | ~
    case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
    default: false
    }
  }

  /// Whether this SDK sends the byte in a field's value: a tab, or printable ASCII.
  ///
  /// Receivers read bytes above ASCII in different ways, so the SDK does not send them.
  ///
  /// - SeeAlso: RFC 9110, section 5.5
  fileprivate var isFieldValueByte: Bool {
    (0x20...0x7E).contains(self) || self == 0x09
  }
}
