import Foundation
import SQBasics
import SQFiles
import Testing

@testable import SQCrypto
@testable import SequencingOAuth
@testable import TestSupport

/// Keys that sign outside the process.
@Suite(.timeLimit(.minutes(1))) struct RemoteSignerTests {
  /// Returns a key of this process that acts like a remote one.
  private func key(
    _ algorithm: JWSAlgorithm = .es256, knowsPublicKey: Bool = true,
    change: @escaping @Sendable (Data) -> Data = { $0 }
  ) throws -> ClientKey {
    let own = try MadeKeys.key(for: algorithm)
    guard case .here(let privateKey) = own.signer else { throw CancellationError() }
    let jwk = try own.publicJWK.map { try JSONEncoder().encode($0) }
    return try ClientKey(
      algorithm: algorithm, keyID: own.keyID,
      publicJWK: knowsPublicKey ? jwk.map { String(decoding: $0, as: UTF8.self) } : nil
    ) { message in
      let scheme = try #require(algorithm.scheme)
      return change(try #require(privateKey.signature(of: message, by: scheme)))
    }
  }

  @Test(arguments: MadeKeys.algorithms)
  func `a JWT signed by a remote key is valid`(algorithm: JWSAlgorithm) async throws {
    let key = try key(algorithm)
    #expect(try MadeKeys.claims(of: await key.sign(["a": 1]), by: key) == ["a": 1])
    failure(.invalidConfiguration) { try key.pem() }
  }

  @Test(arguments: [true, false])
  func `a remote signature in DER format is rejected`(knowsPublicKey: Bool) async throws {
    // Many key services return this format.
    let der = try key(knowsPublicKey: knowsPublicKey) { Data([0x30, 68, 2, 32]) + $0 }
    let error = await failure(.clientKeyFailed) { try await der.sign([:]) }
    #expect(error?.message.contains("DER") == true)
  }

  @Test func `a remote signature that does not match the public key is rejected`() async throws {
    for algorithm in [JWSAlgorithm.es256, .rs256, .edDSA] {
      let wrong = try key(algorithm) { signature in
        var signature = signature
        signature[signature.startIndex + 5] ^= 1
        return signature
      }
      await failure(.clientKeyFailed) { try await wrong.sign([:]) }
    }
  }

  @Test func `the error of the app's signing code becomes the cause`() async throws {
    let key = try ClientKey(algorithm: .es256, keyID: nil) { _ in throw FileError(.closed) }
    let error = await failure(.clientKeyFailed) { try await key.sign([:]) }
    #expect(error?.cause is FileError)
    #expect(error?.requiresSignIn == false)
  }

  @Test func `signing code that does not return is cancelled, and the caller gets an error`()
    async throws
  {
    let gate = OneShot<Void>()
    let cancelled = OneShot<Bool>()
    let signer = RemoteSigner(publicKey: nil, limit: .milliseconds(20)) { _ in
      await gate.wait()
      cancelled.resolve(Task.isCancelled)
      return Data()
    }
    await failure(.clientKeyFailed) { try await signer.signature(of: Data(), by: .ed25519) }
    gate.resolve(())
    #expect(await cancelled.wait())
  }

  @Test func `a cancelled caller does not wait for the signing code`() async throws {
    let (begun, gate) = (OneShot<Void>(), OneShot<Void>())
    let key = try ClientKey(algorithm: .es256, keyID: nil) { _ in
      begun.resolve(())
      await gate.wait()
      return Data()
    }
    let work = Task { await failure(.cancelled) { try await key.sign([:]) } }
    await begun.wait()
    work.cancel()
    _ = await work.value
    gate.resolve(())
  }

  @Test func `an unsuitable public key is rejected`() throws {
    let jwk = try JSONEncoder().encode(try ClientKey(generating: .es384).publicJWK)
    for text in [String(decoding: jwk, as: UTF8.self), "{}", "x"] {
      failure(.invalidConfiguration) {
        try ClientKey(algorithm: .es256, keyID: "k", publicJWK: text) { $0 }
      }
    }
  }

  @Test func `a remote key equals only its own copies`() throws {
    let (one, other) = (try key(), try key())
    let copy = one
    #expect(one == copy && one != other)
    let unknown = try key(knowsPublicKey: false)
    #expect(unknown.publicJWK == nil && unknown == unknown)
  }
}
