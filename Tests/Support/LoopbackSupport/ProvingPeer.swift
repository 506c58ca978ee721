import FoundationEssentials
import SQLoopback
import Testing

@testable import OAuthSandbox

/// A client of the sandbox that holds a key and writes its proofs by hand.
struct ProvingPeer {
  let sandbox: SandboxServer
  let key: SigningKey

  init(_ sandbox: SandboxServer, _ algorithm: SandboxSigningAlgorithm = .es256) {
    self.sandbox = sandbox
    key = SigningKey(generating: algorithm)
  }

  /// Starts a sandbox that accepts proofs and whose clock stands at 1,900,000,000 s after 1970.
  static func start(
    _ change: (inout SandboxOptions) -> Void = { _ in }
  ) async throws -> SandboxServer {
    var options = SandboxOptions()
    options.now = { Date(timeIntervalSince1970: 1_900_000_000) }
    options.dpop = SandboxDPoPOptions(.accepted)
    change(&options)
    return try await SandboxServer.start(options)
  }

  var peer: SandboxPeer { SandboxPeer(sandbox: sandbox) }

  var jwk: SandboxJSON { .object(key.parameters) }

  /// The key's thumbprint, from its parameters in the order of their names (RFC 7638).
  var thumbprint: String {
    let names = jwk.names.sorted()
    let members = names.map { "\"\($0)\":\"\(jwk[$0]?.string ?? "")\"" }
    return Crypto.digest(of: "{\(members.joined(separator: ","))}")
  }

  /// Returns the text of a proof for the sandbox or another server; `change` can make the proof
  /// wrong.
  func proof(
    _ method: String = "POST", _ path: String = "/token", at server: URL? = nil,
    token: String? = nil, nonce: String? = nil,
    changing change: (inout SandboxJWT) -> Void = { _ in }
  ) -> String {
    var claims: SandboxJSON = [
      "jti": .string(Crypto.secret("")), "htm": .string(method),
      "htu": .string((server ?? sandbox.issuer).absoluteString + path),
      "iat": .integer(Int(sandbox.now.timeIntervalSince1970)),
    ]
    claims["ath"] = token.map { .string(Crypto.digest(of: $0)) }
    claims["nonce"] = nonce.map(SandboxJSON.string)
    var jwt = SandboxJWT(claims, type: "dpop+jwt", key: key, namesKey: false)
    jwt.header["jwk"] = jwk
    change(&jwt)
    return jwt.signed
  }

  /// Sends a form with proofs to the token endpoint or to another path.
  func post(
    _ form: [(String, String)], to path: String = "/token", _ proofs: String...
  ) async throws -> LoopbackAnswer {
    try await peer.post(path, form, headers: proofs.map { ("DPoP", $0) })
  }

  /// The form of a token request that needs no code: a password grant.
  static let passwordForm = [
    ("grant_type", "password"), ("username", "alice"), ("password", "alice-password"),
    ("client_id", "sandbox-app"),
  ]

  /// Calls the API with a bound token and a proof.
  func api(
    _ path: String = "/api/me", token: String, scheme: String = "DPoP", proof: String?
  ) async throws -> LoopbackAnswer {
    let proof = proof.map { [(name: "DPoP", value: $0)] } ?? []
    return try await peer.get(path, headers: [("Authorization", "\(scheme) \(token)")] + proof)
  }

  func refresh(_ token: String, proof: String?) async throws -> LoopbackAnswer {
    let form = [
      ("grant_type", "refresh_token"), ("refresh_token", token), ("client_id", "sandbox-app"),
    ]
    return try await peer.post("/token", form, headers: proof.map { [("DPoP", $0)] } ?? [])
  }
}
