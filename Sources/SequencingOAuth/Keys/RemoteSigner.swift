import SQBasics
import SQCrypto
import SQFoundation

/// The signer of a remote key: the app's code, and the public key that verifies its signatures.
final class RemoteSigner: Sendable {
  private let publicKey: PublicKey?
  /// The longest time that the app's code may take for a signature.
  private let limit: Duration
  private let sign: @Sendable (Data) async throws -> Data

  init(
    publicKey: PublicKey?, limit: Duration = .seconds(10),
    sign: @escaping @Sendable (Data) async throws -> Data
  ) {
    self.publicKey = publicKey
    self.limit = limit
    self.sign = sign
  }

  /// Returns the signature of a message.
  ///
  /// At the time limit, this cancels the task of the app's code and throws, without waiting for
  /// that code to end.
  func signature(
    of message: Data, by scheme: SignatureScheme
  ) async throws(SQOAuthError) -> Data {
    switch await LimitedCall.result(limit: limit, of: { [sign] in try await sign(message) }) {
    case .success(let signature)?:
      try check(signature, of: message, by: scheme)
      return signature
    case .failure(let error)?:
      // Only the SDK's own errors are known to hold no secret.
      let reason = (error as? SQOAuthError)?.message ?? "the app's code failed"
      throw SQOAuthError(
        .clientKeyFailed, "the client's key could not sign: \(reason)", cause: error)
    case nil where Task.isCancelled:
      throw .waitCancelled
    case nil:
      throw SQOAuthError(
        .clientKeyFailed,
        "the client's key could not sign: the app's code took longer than "
          + "\(Int(limit.seconds)) s")
    }
  }

  private func check(
    _ signature: Data, of message: Data, by scheme: SignatureScheme
  ) throws(SQOAuthError) {
    if case .ecdsa(let curve, _) = scheme {
      guard signature.count == 2 * curve.coordinateSize else {
        throw SQOAuthError(
          .clientKeyFailed,
          "the app's code returned a signature of \(signature.count) bytes; an ECDSA signature "
            + "must be the numbers r and s in \(curve.coordinateSize) bytes each, without DER")
      }
    }
    guard publicKey?.isValid(signature, of: message, by: scheme) ?? true else {
      throw SQOAuthError(
        .clientKeyFailed,
        "the app's code returned a signature that the client's public key does not verify")
    }
  }
}
