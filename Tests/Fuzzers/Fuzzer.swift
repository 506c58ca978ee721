import FoundationEssentials

/// A parser with the rules that must hold for all bytes.
///
/// libFuzzer looks for bytes that break a rule (`Scripts/fuzz`), and the tests replay the seeds and
/// the findings.
struct Fuzzer: Sendable {
  /// Its name on the command line, and that of its folder of seeds.
  let name: String
  /// Reads the bytes; throws a ``Finding`` if a rule is broken.
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

/// A rule that some input broke.
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
  /// Swift's own comparison takes some different characters for the same.
  func hasSameBytes(as other: String) -> Bool {
    utf8.elementsEqual(other.utf8)
  }

  /// Whether the text can be shown: it moves no cursor, and hides and turns round nothing.
  var isHarmless: Bool {
    unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: false
      default: true
      }
    }
  }

  /// Whether every byte is printable ASCII, or visible ASCII.
  func isASCII(withSpaces: Bool) -> Bool {
    utf8.allSatisfy { ((withSpaces ? 0x20 : 0x21)...0x7E).contains($0) }
  }

  /// Whether it is an RFC 9110 token.
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
