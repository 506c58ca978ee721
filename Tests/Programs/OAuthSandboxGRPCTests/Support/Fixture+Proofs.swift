import Foundation
import OAuthSandbox
import OAuthSandboxGRPC
import SequencingOAuthGRPC

@testable import LoopbackSupport

/// Calls with a token and a proof that are written by hand.
extension Fixture {
  /// Returns a new token that is bound to a client's key.
  func token(of client: ProvingPeer) -> String {
    sandbox.issueTokens(boundTo: client.thumbprint).accessToken
  }

  /// Returns a client's proof for a call.
  func proof(
    of client: ProvingPeer, _ token: String?, _ method: String = Method.unaryCall,
    nonce: String? = nil, changing change: (inout SandboxJWT) -> Void = { _ in }
  ) -> String {
    client.proof("POST", method, at: server.url, token: token, nonce: nonce, changing: change)
  }

  /// Creates a call with a token and a proof.
  func call(
    _ scheme: String, _ token: String, _ proof: String? = nil,
    _ method: String = Method.unaryCall, _ request: Data = everything
  ) throws -> RPCCall {
    let kind: RPCCall.Kind = method == Method.stream ? .serverStreaming : .unary
    let call = try channel().call(method, request: request, kind: kind)
    var metadata = RPCMetadata()
    try metadata.set("\(scheme) \(token)", for: "authorization")
    if let proof { try metadata.set(proof, for: "dpop") }
    try call.setRequestMetadata(metadata)
    return call
  }

  /// Makes a call that must be refused as unauthenticated, and returns the error.
  func refusal(_ scheme: String, _ token: String, _ proof: String?) async throws -> RPCCallError {
    let call = try call(scheme, token, proof)
    return try await rpcFailure(.unauthenticated) { try await call.response() }
  }
}
