import FoundationEssentials

/// A parser with rules that must hold for any input.
///
/// libFuzzer looks for bytes that break a rule (`Scripts/fuzz`), and the tests replay the seeds and
/// the findings.
struct Fuzzer: Sendable {
  /// The fuzzer's name on the command line; its folder of seeds has this name, too.
  let name: String
  /// Reads the bytes, and throws an error if they break a rule.
  let check: @Sendable (Data) throws -> Void

  init(_ name: String, check: @escaping @Sendable (Data) throws -> Void) {
    self.name = name
    self.check = check
  }

  static let all = [
    httpRequest, redirect, form, json, tokenResponse, challenge, metadata, url, store, sealedStore,
    downloadRecord, linkHeader, headerValue, frames, gzip, answer, connection, signedText, keySet,
    deviceAuthorization, webSignIn, accessTokenClaims, registration,
    clientKey,
  ]
}

/// A rule that an input broke.
struct Finding: Error, CustomStringConvertible {
  let description: String
}

/// Throws a finding if the condition does not hold.
func require(
  _ condition: @autoclosure () -> Bool, _ rule: @autoclosure () -> String
) throws(Finding) {
  if !condition() { throw Finding(description: rule()) }
}

extension String {
  /// Returns whether two texts have the same bytes; Swift's `==` also accepts some texts with
  /// different bytes.
  func hasSameBytes(as other: String) -> Bool {
    utf8.elementsEqual(other.utf8)
  }

  /// Whether the text is safe to show: it moves no cursor, and neither hides nor reverses text.
  var isHarmless: Bool {
    unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: false
      default: true
      }
    }
  }

  /// Returns whether every byte is printable ASCII; spaces are allowed only if `withSpaces` is
  /// `true`.
  func isASCII(withSpaces: Bool) -> Bool {
    utf8.allSatisfy { ((withSpaces ? 0x20 : 0x21)...0x7E).contains($0) }
  }

  /// Whether the text is an RFC 9110 token.
  var isToken: Bool {
    !isEmpty
      && utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
  }
}
