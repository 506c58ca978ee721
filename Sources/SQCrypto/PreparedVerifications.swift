import CSQCrypto
import SQBasics

/// OpenSSL's contexts for verifying one key's signatures, prepared once for each scheme.
///
/// Preparing a context takes a seventh of the time of an RSA verification, and copying a prepared
/// one almost none.
final class PreparedVerifications: Sendable {
  private struct Contexts: @unchecked Sendable {
    var prepared: [SignatureScheme: OpaquePointer] = [:]
  }

  /// The contexts; each is only copied, and only under the lock.
  private let contexts = Locked(Contexts())

  deinit {
    contexts.withLock { $0.prepared.values.forEach(EVP_MD_CTX_free) }
  }

  /// Makes an empty context ready for one verification; returns `false` if OpenSSL fails.
  func prepare(_ context: OpaquePointer, _ key: OpaquePointer, _ scheme: SignatureScheme) -> Bool {
    contexts.withLock { contexts in
      if let prepared = contexts.prepared[scheme] {
        return EVP_MD_CTX_copy_ex(context, prepared) == 1
      }
      guard let new = EVP_MD_CTX_new() else { return false }
      guard Self.initialize(new, key, scheme) else {
        EVP_MD_CTX_free(new)
        return false
      }
      contexts.prepared[scheme] = new
      return EVP_MD_CTX_copy_ex(context, new) == 1
    }
  }

  private static func initialize(
    _ context: OpaquePointer, _ key: OpaquePointer, _ scheme: SignatureScheme
  ) -> Bool {
    // `context` owns the key's context, so only `context` is freed.
    var keyContext: OpaquePointer?
    guard
      EVP_DigestVerifyInit(
        context, &keyContext, scheme.hashFunction?.implementation, nil, key) == 1
    else { return false }
    guard case .rsaPSS = scheme else { return true }
    return EVP_PKEY_CTX_set_rsa_padding(keyContext, RSA_PKCS1_PSS_PADDING) == 1
      && EVP_PKEY_CTX_set_rsa_pss_saltlen(keyContext, RSA_PSS_SALTLEN_DIGEST) == 1
  }
}
