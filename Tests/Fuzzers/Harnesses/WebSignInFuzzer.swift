import FoundationEssentials
import SQBasics

@testable import SequencingOAuth
@testable import SequencingOAuthBackend

extension Fuzzer {
  /// A fuzzer for a web sign-in that an application stored: in its own session, or in a cookie that
  /// the browser may have changed.
  static let webSignIn = Fuzzer("web-sign-in") { input in
    let text = String(decoding: input, as: UTF8.self)
    try require(
      (try? sealer.get().open(text, session: "s")) == nil, "a text that was not sealed opens")
    guard let signIn = try? JSONDecoder().decode(WebSignIn.self, from: input) else { return }
    let request = signIn.request
    try require(signIn.description.isHarmless, "it shows as \(signIn)")
    let shown = request.clientID + request.provider
    for secret in [request.state, request.verifier]
    where secret.utf8.count > 20 && !shown.contains(secret) {
      try require(!signIn.description.contains(secret), "it shows a secret")
    }
    let written = try JSONEncoder().encode(signIn)
    try require(
      (try? JSONDecoder().decode(WebSignIn.self, from: written)) == signIn,
      "it reads differently when it is written again")
    try requireSealed(signIn)
    // Any redirect may come to the sign-in, so none may crash the program.
    _ = AuthorizationResponse.judge(text, against: request.expectation)
    _ = PostedRedirect.url(form: input, at: request.redirectURI)
  }

  private static let sealer = Result { () throws(SQOAuthError) in
    try WebSignInSealer(key: .raw(Data(0..<32)))
  }

  private static func requireSealed(_ signIn: WebSignIn) throws {
    let sealer = try sealer.get()
    guard let text = try? sealer.seal(signIn, session: "s") else { return }
    try require(text.utf8.count <= WebSignInSealer.maximumLength, "a sealed text is too long")
    try require((try? sealer.open(text, session: "s")) == signIn, "a sealed text does not open")
    try require((try? sealer.open(text, session: "t")) == nil, "it opens in another session")
  }
}
