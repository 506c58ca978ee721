import SQFoundation

/// What a response says to a client whose proof was refused: a nonce, and the server's time.
///
/// - SeeAlso: RFC 9449, sections 8 and 9
enum ProofAdvice {
  /// The name of the field with a server's nonce for proofs.
  static let nonceField = "DPoP-Nonce"
  /// The size of the longest nonce to remember; it bounds the memory and the size of requests.
  static let longestNonce = 1024
  /// The largest clock difference to correct, in seconds; a larger difference may be an attack on
  /// the clock.
  static let largestLead = 86_400.0

  /// Returns why another proof would be refused too, as the end of a sentence; `nil` if the
  /// response does not show a reason.
  static func text(
    after error: SQOAuthError.Code, _ fields: HeaderFields, at now: Date
  ) -> String? {
    switch error {
    case .useDPoPNonce:
      return unusableNonce(fields).map {
        "; its response has no usable nonce (\(nonceField)): \($0)"
      }
    case .invalidDPoPProof:
      return clockText(fields, at: now).map { "; \($0)" }
    default: return nil
    }
  }

  /// Returns a text that says how far this machine's clock is from the date of a response.
  ///
  /// It returns `nil` if there is no date, or if the SDK corrects the difference.
  static func clockText(_ fields: HeaderFields, at now: Date) -> String? {
    guard let lead = HTTPDate.lead(fields["Date"], at: now), abs(lead) > largestLead else {
      return nil
    }
    return "this machine's clock is \(Int64(abs(lead))) s "
      + "\(lead > 0 ? "ahead of" : "behind") the server's, which is too much to allow for: "
      + "correct the clock"
  }

  /// Returns why the nonce in a response cannot be used; `nil` if it can.
  private static func unusableNonce(_ fields: HeaderFields) -> String? {
    let values = fields.values(for: nonceField)
    guard let nonce = values.first else { return "there is none" }
    guard values.count == 1 else { return "it came \(values.count) times" }
    guard !nonce.isEmpty else { return "it is empty" }
    guard nonce.utf8.count <= longestNonce else {
      return "it is longer than \(longestNonce) characters"
    }
    return isNonce(nonce) ? nil : "it has a forbidden character"
  }

  /// Returns whether a text is a usable nonce: of a suitable size, and without forbidden
  /// characters.
  ///
  /// - SeeAlso: RFC 9449, section 8.1; RFC 6749, appendix A
  static func isNonce(_ text: String) -> Bool {
    (1...longestNonce).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
  }
}
