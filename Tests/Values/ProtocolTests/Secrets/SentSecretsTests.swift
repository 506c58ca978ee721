import SQBasics
import Testing

@testable import SequencingOAuth

/// How a server's text is cleaned of the secrets of the request.
@Suite struct SentSecretsTests {
  private static let secret = "C4N4RY a/b+c=é\"\\"
  private let secrets = SentSecrets([secret])

  @Test(arguments: [
    secret, FormCoding.encodeValue(secret), FormCoding.encodeCredential(secret),
    // Lower-case digits, and only some of the characters, as other encoders write them.
    "C4N4RY+a%2fb%2bc%3d%c3%a9%22%5c", "C4N4RY%20a/b%2Bc=%C3%A9\"\\", "%43%34N4RY a/b+c=é\"\\",
    // In a JSON string, with and without what need not be escaped.
    #"C4N4RY a/b+c=é\"\\"#, #"C4N4RY a\/b\u002bc\u003D\u00e9\"\u005C"#,
  ])
  func `a secret is removed in each spelling`(spelling: String) {
    #expect(secrets.removed(from: "<\(spelling)>") == "<[removed]>")
    let twice = secrets.removed(from: "\(spelling)\u{301} x \(spelling)")
    #expect(twice.unicodeScalars.elementsEqual("[removed]\u{301} x [removed]".unicodeScalars))
  }

  @Test(arguments: [
    "100 % of it\\", "%zz %4 %", #"a \u12 \u00zz \"#, "a+b", "C4N4RY a/b", "%5Bremoved%5D", "",
  ])
  func `a text without a secret is not changed, even if it has escapes`(text: String) {
    #expect(secrets.removed(from: text) == text)
  }

  /// Many servers escape each character outside of ASCII in JSON.
  @Test func `a password with an emoji is removed if it is escaped as two surrogates`() {
    let secrets = SentSecrets([], passwords: ["pass😀"])
    #expect(secrets.removed(from: #"<pass\ud83d\ude00>"#) == "<[removed]>")
    #expect(secrets.removed(from: #"<pass\uD83D\uDE00>"#) == "<[removed]>")
    for other in [#"<pass\ud83d>"#, #"<pass\ud83d\u0041>"#, #"<pass\ude00\ud83d>"#] {
      #expect(secrets.removed(from: other) == other)
    }
  }

  @Test func `two secrets that overlap are removed together`() {
    let secrets = SentSecrets(["token-1", "1-secret"])
    #expect(secrets.removed(from: "x token-1-secret y") == "x [removed] y")
    #expect(secrets.removed(from: "token-1token-1") == "[removed][removed]")
  }
}
