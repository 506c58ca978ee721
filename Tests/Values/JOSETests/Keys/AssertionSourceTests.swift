import Foundation
import SQBasics
import SQFiles
import Testing

@testable import SequencingOAuth
@testable import TestSupport

/// The checks of an assertion that another party signs, before the client sends the assertion.
@Suite(.timeLimit(.minutes(1))) struct AssertionSourceTests {
  private static let audience = "https://id.example"
  private static let need = AssertionSource.Need(audience: audience)

  private func signed(_ claims: [String: JSONValue] = ["aud": .string(audience)]) async throws
    -> String
  {
    try await MadeKeys.key(for: .es256).sign(claims)
  }

  @Test(arguments: ["", "\n", " \r\n\t\n"])
  func `white space at the end of an assertion is removed`(end: String) async throws {
    let text = try await signed()
    let source = AssertionSource { _ in text + end }
    #expect(try await source.assertion(for: Self.need).text == text)
  }

  @Test func `the app's code is called with the audience for each assertion`() async throws {
    let asked = Locked<[String]>([])
    let key = try MadeKeys.key(for: .es256)
    let source = AssertionSource { audience in
      asked.withLock { $0.append(audience) }
      return try await key.sign(["aud": .string(audience)])
    }
    for audience in ["https://a.example", "https://b.example"] {
      _ = try await source.assertion(for: AssertionSource.Need(audience: audience))
    }
    #expect(asked.withLock(\.self) == ["https://a.example", "https://b.example"])
  }

  @Test(
    arguments: [
      ["aud": "https://id.example"], ["aud": ["https://id.example"]],
      ["aud": ["other", "https://id.example"]],
    ] as [[String: JSONValue]])
  func `an assertion whose audience includes the server is sent`(claims: [String: JSONValue])
    async throws
  {
    let text = try await signed(claims)
    #expect(try await AssertionSource { _ in text }.assertion(for: Self.need).text == text)
  }

  @Test(
    arguments: [
      [:], ["aud": "https://id.example/"], ["aud": ["https://kubernetes.default.svc"]], ["aud": 5],
      ["aud": []], ["aud": "HTTPS://id.example"],
    ] as [[String: JSONValue]])
  func `an assertion for a different audience is not sent, and no error shows it`(
    claims: [String: JSONValue]
  ) async throws {
    let text = try await signed(claims)
    let source = AssertionSource { _ in text }
    let error = try #require(
      await failure(.clientKeyFailed) { try await source.assertion(for: Self.need) })
    #expect(error.message.contains(Self.audience) && error.message.contains("assertionAudience"))
    #expect(!everyText(of: error).contains(text))
    #expect(!error.requiresSignIn)
  }

  @Test(arguments: [
    "", "  ", "C4N4RY", "C4N4RY.C4N4RY", "C4N4RY.C4N4RY.C4N4RY", "C4N4RY.a.b.c.d", "e30.e30.",
    "eyJhbGciOiJSUzI1NiJ9.W10.AA", "<html>C4N4RY</html>",
  ])
  func `a text that is no signed JWT is not sent, and no error shows it`(text: String) async {
    let source = AssertionSource { _ in text }
    let error = await failure(.clientKeyFailed) { try await source.assertion(for: Self.need) }
    if let error { #expect(!everyText(of: error).contains("C4N4RY")) }
  }

  @Test func `an assertion with white space before it or inside it is not sent`() async throws {
    let text = try await signed()
    for wrong in [" " + text, text + "\n" + text, text.replacing(".", with: ".\n")] {
      await failure(.clientKeyFailed) {
        try await AssertionSource { _ in wrong }.assertion(for: Self.need)
      }
    }
  }

  @Test func `an error that the app's code throws becomes the cause`() async {
    let source = AssertionSource { _ in throw FileError(.closed) }
    let error = await failure(.clientKeyFailed) { try await source.assertion(for: Self.need) }
    #expect(error?.cause is FileError)
  }

  /// An account keeper, a session and the introspector leave a server that is down alone.
  @Test func `an outage of the source counts as one, with the time that it asks for`() async {
    for error in [
      SQOAuthError(.serverError, "down", status: 503, retryAfter: .seconds(40)),
      SQOAuthError(.connectionFailed, "unreachable"),
    ] {
      let source = AssertionSource { _ in throw error }
      let wrapped = await failure(.clientKeyFailed) { try await source.assertion(for: Self.need) }
      #expect(wrapped?.isOutage == true && wrapped?.retryAfter == error.retryAfter)
    }
    let refused = AssertionSource { _ in throw SQOAuthError(.invalidGrant, "no", status: 400) }
    let error = await failure(.clientKeyFailed) { try await refused.assertion(for: Self.need) }
    #expect(error?.isOutage == false)
  }

  @Test(arguments: ["oauth-id-jag+jwt", "application/OAuth-ID-JAG+jwt", "JWT"])
  func `an identity provider's grant for another user than the needed one is not sent`(
    type: String
  ) async throws {
    let key = try MadeKeys.key(for: .es256)
    let named = Locked("alice")
    let source = AssertionSource { audience in
      try await key.sign(
        [
          "iss": "https://idp.example", "aud": .string(audience),
          "sub": .string(named.withLock(\.self)),
        ], type: type)
    }
    let first = try await source.assertion(for: Self.need)
    // A workload's assertion may name another part of the workload each time.
    #expect((first.user == nil) == (type == "JWT"))
    let need = AssertionSource.Need(audience: Self.audience, user: first.user)
    #expect(try await source.assertion(for: need).user == first.user)
    named.withLock { $0 = "bob" }
    guard first.user != nil else {
      _ = try await source.assertion(for: need)
      return
    }
    let error = await failure(.clientKeyFailed) { try await source.assertion(for: need) }
    #expect((error?.cause as? SQOAuthError)?.code == .idTokenSubject)
    if let error { #expect(!everyText(of: error).contains("bob")) }
  }

  @Test func `an SDK error from the app's code is wrapped and does not require a sign-in`() async {
    let source = AssertionSource { _ in throw SQOAuthError(.invalidGrant, "no longer") }
    let error = await failure(.clientKeyFailed) { try await source.assertion(for: Self.need) }
    #expect(error?.message.contains("no longer") == true && error?.requiresSignIn == false)
    #expect((error?.cause as? SQOAuthError)?.code == .invalidGrant)
  }

  @Test func `app code that does not return is cancelled, and the caller gets an error`() async {
    let gate = OneShot<Void>()
    let cancelled = OneShot<Bool>()
    let source = AssertionSource("a test", limit: .milliseconds(20)) { _ in
      await gate.wait()
      cancelled.resolve(Task.isCancelled)
      return ""
    }
    await failure(.clientKeyFailed) { try await source.assertion(for: Self.need) }
    gate.resolve(())
    #expect(await cancelled.wait())
  }

  @Test func `a cancelled caller does not wait for the app's code`() async {
    let (begun, gate) = (OneShot<Void>(), OneShot<Void>())
    let source = AssertionSource { _ in
      begun.resolve(())
      await gate.wait()
      return ""
    }
    let work = Task { await failure(.cancelled) { try await source.assertion(for: Self.need) } }
    await begun.wait()
    work.cancel()
    _ = await work.value
    gate.resolve(())
  }

  @Test func `a source equals only its own copies, and a file source prints its path`() {
    let (one, other) = (AssertionSource { _ in "C4N4RY" }, AssertionSource { _ in "C4N4RY" })
    let copy = one
    #expect(one == copy && one != other && Set([one, copy, other]).count == 2)
    #expect(everyText(of: AssertionSource.file("/run/token")).contains("/run/token"))
  }

  // MARK: Files

  @Test func `a file is read anew for each assertion, also through a link`() async throws {
    let folder = try TemporaryFolder()
    let (first, second) = (try await signed(), try await signed())
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("token"), withDestinationPath: folder.file("data"))
    let source = AssertionSource.file(folder.file("token"))
    for text in [first, second] {
      try Data((text + "\n").utf8).write(to: URL(filePath: folder.file("data")))
      #expect(try await source.assertion(for: Self.need).text == text)
    }
    #expect(first != second)
  }

  @Test func `the error for a missing file names the file and has the system's error as cause`()
    async throws
  {
    let path = try TemporaryFolder().file("gone")
    let error = await failure(.clientKeyFailed) {
      try await AssertionSource.file(path).assertion(for: Self.need)
    }
    #expect(error?.message.contains(path) == true && (error?.cause as? FileError)?.code == ENOENT)
  }

  @Test func `a folder, pipe or device as the assertion file is refused without a wait`()
    async throws
  {
    let folder = try TemporaryFolder()
    try #require(mkfifo(folder.file("pipe"), 0o600) == 0)
    for path in [folder.path, folder.file("pipe"), "/dev/null"] {
      await failure(.clientKeyFailed) {
        try await AssertionSource.file(path).assertion(for: Self.need)
      }
    }
  }

  @Test(arguments: [
    (Data(), "is empty"), (Data(" \n".utf8), "is empty"),
    (Data([0xFF, 0xFE]), "is not UTF-8 text"),
    (Data(repeating: 0x61, count: BroughtAssertion.longest + 1), "bytes"),
    (Data("C4N4RY\n".utf8), "signed JSON Web Token"),
  ])
  func `a file without an assertion is refused, and the error does not show its content`(
    content: Data, reason: String
  ) async throws {
    let folder = try TemporaryFolder()
    try content.write(to: URL(filePath: folder.file("token")))
    let error = await failure(.clientKeyFailed) {
      try await AssertionSource.file(folder.file("token")).assertion(for: Self.need)
    }
    #expect(error?.message.contains(reason) == true)
    if let error { #expect(!everyText(of: error).contains("C4N4RY")) }
  }

  // MARK: The configuration

  @Test func `a client with an assertion source uses private_key_jwt if the server supports it`()
    throws
  {
    let client = try ClientConfiguration(
      clientID: "c", clientSecret: "s", clientAssertionSource: AssertionSource { _ in "" },
      provider: .issuer(Self.audience))
    #expect(try client.authentication(supported: nil) == .privateKeyJWT)
    #expect(try client.authentication(supported: ["private_key_jwt"]) == .privateKeyJWT)
    let error = failure(.invalidConfiguration) {
      try client.authentication(supported: ["client_secret_basic"])
    }
    #expect(error?.message.contains("clientAuthentication") == true)
    let chosen = try ClientConfiguration(
      clientID: "c", clientAssertionSource: AssertionSource { _ in "" },
      provider: .issuer(Self.audience), clientAuthentication: .privateKeyJWT)
    #expect(try chosen.authentication(supported: ["none"]) == .privateKeyJWT)
  }

  @Test func `an assertion source for a grant does not authenticate the client`() throws {
    var client = try ClientConfiguration(clientID: "c", provider: .issuer(Self.audience))
    client.grantAssertionSource = AssertionSource { _ in "" }
    #expect(try client.authentication(supported: ["private_key_jwt"]) == .publicClient)
    #expect(!client.hasProofOfItself)
  }
}
