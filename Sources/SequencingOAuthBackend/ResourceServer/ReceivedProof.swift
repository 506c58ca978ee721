import SQBasics
import SQCrypto
import SQFoundation
import SequencingOAuth

/// A DPoP proof that a client sent with its token; its signature is verified.
///
/// - SeeAlso: RFC 9449, section 4.3
struct ReceivedProof: Redacted {
  /// The thumbprint of the key that signed the proof.
  let thumbprint: String
  private let reader: ClaimReader

  /// The maximum size of a proof, in bytes.
  private static let maximumSize = 8 << 10
  /// How long a proof is valid.
  static let lifetime = Duration.seconds(60)

  /// Reads the only proof of a request, and verifies its signature with the key in its header.
  init(_ proofs: [String]) throws(SQOAuthError) {
    guard proofs.count == 1, let text = proofs.first, text.utf8.count <= Self.maximumSize else {
      throw Self.invalid("the request must have one DPoP field, of at most 8 KiB")
    }
    do throws(JWSFailure) {
      let signed = try CompactJWS(text)
      guard signed.type?.asciiLowercased() == "dpop+jwt" else { throw .type }
      thumbprint = JWKThumbprint.of(
        try signed.verifyWithOwnKey(AccessTokenValidator.publicKeyAlgorithms))
      reader = ClaimReader(
        claims: try signed.claims(), subject: "proof", missing: .invalidDPoPProof,
        malformed: .invalidDPoPProof)
    } catch {
      throw Self.invalid(
        "the proof is no readable JWT of the type dpop+jwt, or its signature is not valid")
    }
  }

  private static func invalid(_ reason: String) -> SQOAuthError {
    SQOAuthError(.invalidDPoPProof, reason)
  }

  /// Throws unless the proof is for this request and this token, and was made recently.
  func check(
    _ request: ProtectedRequest, token: String, at now: Date, tolerance: Duration
  ) throws(SQOAuthError) {
    guard try reader.required("htm", reader.text) == request.method else {
      throw Self.invalid("the proof is for another method")
    }
    let named = try reader.required("htu", reader.text)
    guard let named = try? RequestTarget(text: named), let own = try? RequestTarget(request.url),
      DPoPProof.comparable(named) == DPoPProof.comparable(own)
    else { throw Self.invalid("the proof is for another URL") }
    guard
      try reader.required("ath", reader.text) == Base64URL.encode(Digest.sha256(token))
    else { throw Self.invalid("the proof is for another token") }
    let time = try reader.required("iat", reader.date)
    let age = now.timeIntervalSince(time)
    guard -tolerance.seconds <= age, age <= (Self.lifetime + tolerance).seconds else {
      throw Self.invalid("the proof is too old, or its time is in the future; compare the clocks")
    }
  }

  /// Marks the proof as used; throws if it was used before.
  func checkNew(
    in values: any OneTimeValues, at now: Date, tolerance: Duration
  ) async throws(SQOAuthError) {
    let id = try reader.required("jti", reader.text)
    let end = now.addingTimeInterval((Self.lifetime + tolerance + tolerance).seconds)
    guard try await values.use("\(thumbprint) \(id)", as: "proof", until: end, at: now) else {
      throw Self.invalid("the proof was used before")
    }
  }
}
