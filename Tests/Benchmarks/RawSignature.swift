import CSQCrypto
import OAuthSandbox

/// The work of a C program with OpenSSL, with which the SDK's signatures are compared.
final class RawSignature: @unchecked Sendable {
  /// The two signature algorithms that most providers use.
  enum Algorithm: String, CaseIterable {
    case rs256 = "RS256"
    case es256 = "ES256"

    var ofSandbox: SandboxSigningAlgorithm { self == .rs256 ? .rs256 : .es256 }
  }

  /// The text to sign, as long as the signed part of an ID token.
  private let text = [UInt8](repeating: UInt8(ascii: "a"), count: 500)
  private let key: OpaquePointer
  private var signature = [UInt8](repeating: 0, count: 256)

  /// Creates a key and signs with it.
  init(_ algorithm: Algorithm) throws {
    let context = EVP_PKEY_CTX_new_from_name(nil, algorithm == .rs256 ? "RSA" : "EC", nil)
    defer { EVP_PKEY_CTX_free(context) }
    EVP_PKEY_keygen_init(context)
    switch algorithm {
    case .rs256: EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2048)
    case .es256: EVP_PKEY_CTX_set_group_name(context, "P-256")
    }
    var made: OpaquePointer?
    EVP_PKEY_generate(context, &made)
    guard let made else { throw BenchmarkError("OpenSSL made no key") }
    key = made
    let digest = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(digest) }
    EVP_DigestSignInit(digest, nil, EVP_sha256(), nil, key)
    var count = signature.count
    EVP_DigestSign(digest, &signature, &count, text, text.count)
    signature.removeLast(signature.count - count)
  }

  deinit {
    EVP_PKEY_free(key)
  }

  /// Signs the text, and discards the signature.
  func sign() throws {
    let digest = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(digest) }
    var bytes = [UInt8](repeating: 0, count: 256)
    var count = bytes.count
    EVP_DigestSignInit(digest, nil, EVP_sha256(), nil, key)
    guard EVP_DigestSign(digest, &bytes, &count, text, text.count) == 1 else {
      throw BenchmarkError("OpenSSL did not sign")
    }
  }

  func verify() throws {
    let digest = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(digest) }
    EVP_DigestVerifyInit(digest, nil, EVP_sha256(), nil, key)
    guard EVP_DigestVerify(digest, signature, signature.count, text, text.count) == 1 else {
      throw BenchmarkError("OpenSSL did not verify its own signature")
    }
  }
}
