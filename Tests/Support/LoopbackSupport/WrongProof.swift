import Testing

@testable import OAuthSandbox

/// A way to make a proof wrong, with a word that the description of the error must contain.
struct WrongProof: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let word: String
  let change: @Sendable (inout SandboxJWT) -> Void

  private init(
    _ name: String, _ word: String, _ change: @escaping @Sendable (inout SandboxJWT) -> Void
  ) {
    testDescription = name
    self.word = word
    self.change = change
  }

  private static func otherPoint(_ jwt: inout SandboxJWT) {
    jwt.header["jwk"] = .object(SigningKey(generating: .es256).parameters)
  }

  static let all: [Self] = [
    Self("no typ", "typ") { $0.header["typ"] = nil },
    Self("another typ", "typ") { $0.header["typ"] = "JWT" },
    Self("no alg", "alg") { $0.header["alg"] = nil },
    Self("none as alg", "alg") { $0.header["alg"] = "none" },
    Self("an HMAC", "alg") {
      $0.key = SigningKey(secret: "s", algorithm: .hs256); $0.header["alg"] = "HS256"
    },
    Self("an algorithm that is not allowed", "alg") { $0.header["alg"] = "ES384" },
    Self("the algorithm of another kind of key", "jwk") { $0.header["alg"] = "PS256" },
    Self("crit", "crit") { $0.header["crit"] = ["b64"] },
    Self("no jwk", "jwk") { $0.header["jwk"] = nil },
    Self("an incomplete jwk", "jwk") { $0.header["jwk"]?["y"] = nil },
    Self("a private jwk", "private") { $0.header["jwk"]?["d"] = "AQ" },
    Self("a symmetric jwk", "jwk") { $0.header["jwk"] = ["kty": "oct", "k": "AQAB"] },
    Self("a jwk on another curve", "jwk") { $0.header["jwk"]?["crv"] = "P-384" },
    Self("a point that is on no curve", "jwk") { jwt in
      let y = jwt.header["jwk"]?["y"]
      jwt.header["jwk"]?["x"] = y
    },
    Self("another key in jwk", "signature", otherPoint),
    Self("no htm", "htm") { $0.claims["htm"] = nil },
    Self("another htm", "htm") { $0.claims["htm"] = "PUT" },
    Self("htm in lower case", "htm") { $0.claims["htm"] = "post" },
    Self("no htu", "htu") { $0.claims["htu"] = nil },
    Self("an htu without a server", "htu") { $0.claims["htu"] = "/token" },
    Self("another path", "htu") {
      $0.claims["htu"] = .string(($0.claims["htu"]?.string ?? "") + "/")
    },
    Self("another host", "htu") { $0.claims["htu"] = "http://127.0.0.2/token" },
    Self("another scheme", "htu") {
      $0.claims["htu"] = $0.claims["htu"]?.string.map {
        .string($0.replacing("http:", with: "https:"))
      }
    },
    Self("no iat", "iat") { $0.claims["iat"] = nil },
    Self("iat as a string", "iat") { $0.claims["iat"] = "1900000000" },
    Self("iat 61 seconds ago", "past") { $0.move("iat", by: -61) },
    Self("iat in 11 seconds", "future") { $0.move("iat", by: 11) },
    Self("no jti", "jti") { $0.claims["jti"] = nil },
    Self("an empty jti", "jti") { $0.claims["jti"] = "" },
  ]
}
