import Foundation
import Testing

@testable import SQBasics
@testable import SQCrypto
@testable import SequencingOAuth

/// Signatures that other implementations have judged wrongly.
///
/// - SeeAlso: Vectors/README.md
@Suite(.timeLimit(.minutes(2))) struct WycheproofTests {
  @Test(
    arguments: [
      ("ecdsa_secp256r1_sha256_p1363", .ecdsa(.p256, .sha256), 173, 262),
      ("ecdsa_secp384r1_sha384_p1363", .ecdsa(.p384, .sha384), 193, 280),
      ("ecdsa_secp521r1_sha512_p1363", .ecdsa(.p521, .sha512), 231, 318),
      ("rsa_signature_2048_sha256", .rsaPKCS1(.sha256), 9, 259),
      ("rsa_signature_2048_sha384", .rsaPKCS1(.sha384), 7, 258),
      ("rsa_signature_2048_sha512", .rsaPKCS1(.sha512), 8, 259),
      ("rsa_pss_2048_sha256_mgf1_32", .rsaPSS(.sha256), 63, 108),
      ("rsa_pss_2048_sha384_mgf1_48", .rsaPSS(.sha384), 95, 141),
      ("rsa_pss_4096_sha512_mgf1_64", .rsaPSS(.sha512), 132, 179),
      ("ed25519", .ed25519, 117, 210),
    ] as [(String, SignatureScheme, Int, Int)])
  func `all valid signatures are accepted, and all invalid signatures are rejected`(
    file: String, scheme: SignatureScheme, valid: Int, all: Int
  ) throws {
    let cases = try WycheproofFile.cases(file)
    #expect(cases.count == all && cases.count { $0.result == "valid" } == valid)
    // An implementation may reject what is only "acceptable".
    for vector in cases where vector.result != "acceptable" {
      let isValid = vector.key.isValid(vector.signature, of: vector.message, by: scheme)
      #expect(isValid == (vector.result == "valid"), "\(vector.id): \(vector.comment)")
    }
  }

  @Test(arguments: [
    // In this file the salts are empty, but one vector has a salt of the length that JWS demands.
    ("rsa_pss_2048_sha256_mgf1_0", ["s_len changed to 32"]),
    ("rsa_pss_2048_sha256_mgf1sha1_20", []),
  ])
  func `a PSS signature with another salt length or mask than in JWS is rejected`(
    file: String, accepted: [String]
  ) throws {
    let cases = try WycheproofFile.cases(file)
    #expect(cases.count { $0.result == "valid" } > 50)
    let valid = cases.filter {
      $0.key.isValid($0.signature, of: $0.message, by: .rsaPSS(.sha256))
    }
    #expect(valid.map(\.comment) == accepted)
  }
}
