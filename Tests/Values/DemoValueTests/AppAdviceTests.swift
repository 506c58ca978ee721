import Foundation
import SequencingOAuth
import TestSupport
import Testing

@testable import sq_demo

/// The SDK's messages that name a setting of an app, compared with what the demo advises.
@Suite struct `The advice for apps in messages of the SDK` {
  /// Words in camel case that are not settings.
  private static let words: Set = [
    "OpenSSL", "PostgreSQL", "OpenID", "UserInfo", "EdDSA", "DPoP", "SequencingOAuth",
    "StateDirectory", "kB", "gRPC", "GitHub", "GitLab",
  ]

  /// Messages that the demo never shows, each by a part of its text, with the reason.
  private static let exceptions: [(part: String, reason: String)] = [
    ("call register(_:) or registerApplicationParameters", "the hint names the provider's options"),
    ("publicJWK", "the program's keys always have their public half"),
    ("requestAccessTokenByAssertion", "the program's clients have a redirect URI"),
    ("usesClientCredentials", "the program's clients have a redirect URI"),
    ("resourceOrigins", "the message loses this advice, and the hint names --resource"),
    ("allowTokens", "the message loses this advice, and the hint names --resource"),
    ("described by a public document", "the program publishes no document"),
    ("a web application's sign-in cannot require", "the program is no web application"),
    ("leave out the redirect receiver", "the program sets no redirect receiver"),
    ("userMustEnterCode", "the program shows codes without a delegate"),
    ("clientAssertionSource or a certificate", "the program signs in users"),
    ("grantAssertionSource", "the program makes no assertions for users"),
    ("allowsPasswordGrant", "the program never asks for a user's password"),
    ("try ResourceOrigin(", "a part of the message about resourceOrigins"),
    ("tokenBinding must have the algorithm", "a part of the message about the profile"),
    ("authorizationResponseAlgorithm must be", "a part of the message about the profile"),
    ("userInfoAlgorithm", "the program expects no signature of UserInfo"),
    ("finishSending", "the program's calls are unary"),
    ("callbackQueue", "the advice is for the app's own main thread"),
    ("willUseTerminal", "the program makes the terminal ready at once"),
    ("ProtectedRequest", "the program checks no tokens of callers"),
    ("take an SQToken without", "the compiler says it to an app's author"),
    ("call registerApplicationParameters with the provider", "the compiler says it to an author"),
    ("LogoutToken(", "a description, and no error"),
    ("AccessTokenClaims(", "a description, and no error"),
    ("lengthAdjust", "a part of a drawing"), ("Content-Disposition", "a part of a form"),
    ("set SignInOptions.maxAge", "the program sets no parameters of its own"),
    ("set SQOAuth.shared.refreshesAutomatically", "the compiler says it to an app's author"),
  ]

  /// A message in the sources, with `…` for each value.
  private struct Message: CustomTestStringConvertible {
    let file: String
    let text: String
    let code: SQOAuthError.Code
    var testDescription: String { "\(file): \(text)" }
  }

  /// Libraries whose errors the demo shows.
  private static let libraries = [
    "SequencingOAuth", "SequencingOAuthBackend", "SequencingOAuthDiscovery", "SequencingOAuthGRPC",
    "SequencingOAuthPipes", "SequencingOAuthPostgreSQL", "SequencingOAuthSQLite",
    "SequencingOAuthSecretService",
  ]

  /// Finds all texts of several words that name a declaration in camel case.
  private static func messages() throws -> [Message] {
    let codes = Dictionary(
      try PublicErrorCodes.all().map { ($0.name, $0.code) }, uniquingKeysWith: { first, _ in first }
    )
    return try libraries.flatMap { library in
      let files = try PackageSources.paths(in: "Sources/\(library)")
        .filter { $0.hasSuffix(".swift") }
      return try files.flatMap { file in
        let source = try PackageSources.text(of: file)
        return texts(source).compactMap { text, code -> Message? in
          guard text.contains(" "), names(in: text) else { return nil }
          return Message(file: file, text: text, code: codes[code] ?? .connectionFailed)
        }
      }
    }
  }

  private static func names(in text: String) -> Bool {
    // By default, a dot between letters is no boundary of words.
    let name = /\b(?:[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z][A-Za-z]+)\b/.wordBoundaryKind(.simple)
    return text.matches(of: name)
      .contains { !words.contains(String($0.output)) }
  }

  /// Returns the literals of a source, joined where a `+` joins them, each with the error code
  /// before it.
  private static func texts(_ source: String) -> [(text: String, code: String)] {
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
      .filter { !$0.trimmingPrefix(while: \.isWhitespace).hasPrefix("//") }
    let code = lines.joined(separator: "\n")
      .replacing(/\\\((?:[^()"]|"[^"]*"|\((?:[^()"]|"[^"]*"|\([^()]*\))*\))*\)/, with: "…")
    let literal =
      #/(?:\.(?<code>\w+),\s*)?(?<text>"(?:[^"\\\n]|\\.)*"(?:\s*\+\s*"(?:[^"\\\n]|\\.)*")*)/#
    return code.matches(of: literal).map { match in
      let text = match.output.text.replacing(/"\s*\+\s*"/, with: "").dropFirst().dropLast()
      return (String(text), String(match.output.code ?? ""))
    }
  }

  @Test
  func `each SDK message that names a setting gets an option or command as advice, unless exempt`()
    throws
  {
    let messages = try Self.messages()
    try #require(messages.count > 40)
    let options = Set(SQDemo.commands.flatMap { $0.options }.map(\.name))
    for message in messages {
      guard !Self.exceptions.contains(where: { message.text.contains($0.part) }) else { continue }
      let text = message.text.replacing("add .… to", with: "add .missingTokenType to")
      let failure = Failure(SQOAuthError(message.code, text))
      let advice = failure.hint ?? ""
      #expect(
        advice.contains("--") || advice.contains("sq-demo"), "\(message.testDescription): \(advice)"
      )
      let named = advice.matches(of: #/(--[a-z][a-z-]*)/#).map { String($0.output.1) }
      #expect(options.isSuperset(of: named), "\(advice)")
    }
  }

  @Test func `each message that is exempt from advice still exists in the SDK`() throws {
    let messages = try Self.messages()
    for exception in Self.exceptions {
      #expect(messages.contains { $0.text.contains(exception.part) }, "\(exception.part)")
    }
  }

  @Test func `each message for which the demo has advice still exists in the SDK`() throws {
    let texts = try Self.libraries.flatMap { library in
      try PackageSources.paths(in: "Sources/\(library)")
        .filter { $0.hasSuffix(".swift") }
        .flatMap { Self.texts(try PackageSources.text(of: $0)) }
    }.map(\.text)
    // The SDK joins these words from two texts, so no single text contains them.
    let joined = "additionalAuthorities; if the server demands a certificate of the client"
    for (advice, _) in Failure.network + Failure.app where advice != joined {
      #expect(texts.contains { $0.contains(advice) }, "\(advice)")
    }
  }

  @Test(arguments: [
    (SQOAuthError.Code.tlsFailed, "check additionalAuthorities", "--cacert FILE"),
    (.connectionFailed, "check the proxy setting, the variable https_proxy", "--proxy none"),
    (.invalidConfiguration, "the HTTP client's clientCertificate cannot be used", "--client-cert "),
  ])
  func `a message with advice is shown with the option, and other messages are not changed`(
    code: SQOAuthError.Code, message: String, option: String
  ) {
    let failure = Failure(SQOAuthError(code, message))
    #expect(failure.advised.hasPrefix("\(message). In sq-demo, "))
    #expect(failure.advised.contains(option))
    #expect(Failure(SQOAuthError(code, "as asked")).advised == "as asked")
  }
}
